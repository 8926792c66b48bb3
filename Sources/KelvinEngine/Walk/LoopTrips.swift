import KelvinGraph

/// The trips of a walked loop: what one is given, what it leaves, and what all of them come to.
struct LoopTrips {
  private let loop: LoopPart
  /// Of trips; nil where any number may be made.
  private let limit: Int?
  private var goesOn: Bool
  private var trip = 0
  /// By what is carried: what the next trip begins with.
  private var carried: [HostValue]
  /// By accumulated output, the rows of all trips.
  private var rows: [[Tensor]]
  private var byteCount = 0
  /// Of all rows together.
  private static let byteLimit = 1 << 31

  /// - Parameter value: of a slot around the loop.
  /// - Throws: `StepError` for a limit or a condition that is not one number.
  init(_ loop: LoopPart, _ value: (String) throws -> HostValue) throws {
    self.loop = loop
    let limit = try loop.limit.map { try loop.scalar(value($0), of: $0).integers[0] } ?? -1
    self.limit = limit < 0 ? nil : limit
    goesOn = try loop.condition.map { try loop.scalar(value($0), of: $0).doubles[0] != 0 } ?? true
    carried = try loop.carried.map { try value($0.start) }
    rows = loop.rows.map { _ in [] }
  }

  /// Gives the body's slots what a trip begins with.
  ///
  /// - Returns: false where there are no more trips.
  func begin(in slots: inout [String: HostValue]) -> Bool {
    guard goesOn, limit.map({ trip < $0 }) ?? true else { return false }
    slots[loop.trip] = .tensor(Tensor([Int64(trip)], loop.tripShape))
    for (carried, value) in zip(loop.carried, carried) { slots[carried.given] = value }
    return true
  }

  /// Takes what a trip left.
  ///
  /// - Parameter value: of a slot in the body.
  /// - Throws: `StepError` for a condition that is not one number, and for rows that are more than may be held.
  mutating func end(_ value: (String) throws -> HostValue) throws {
    goesOn = try loop.scalar(value(loop.goesOn), of: loop.goesOn).doubles[0] != 0
    carried = try loop.carried.map { try value($0.left) }
    for (index, place) in loop.rows.enumerated() {
      guard case .tensor(let row) = try value(place.row) else {
        throw loop.refused(place.row, "is no tensor, of which there would be a row for each trip")
      }
      byteCount += row.type.byteCount
      guard byteCount <= Self.byteLimit else {
        throw loop.refused(place.row, "has more than \(Self.byteLimit >> 20) MiB of rows after \(trip + 1) trips")
      }
      if let first = rows[index].first, first.type != row.type {
        throw loop.refused(
          place.row, "is \(row.type) in trip \(trip) and \(first.type) before, and its rows become one array",
          remedy: "carry them, joined along an axis, or in a sequence")
      }
      rows[index].append(row)
    }
    trip += 1
  }

  /// What the loop writes, in the order of its outputs.
  func results() -> [HostValue] {
    let left = zip(loop.carried, carried).filter { $0.0.result != nil }.map(\.1)
    return left
      + zip(loop.rows, rows).map { place, rows in
        let type = rows.first?.type ?? place.rowType
        let whole = TensorType(type.scalar, Shape([rows.count] + type.shape.dimensions))
        return .tensor(
          Tensor(
            whole,
            Bytes(count: whole.byteCount) { memory in
              for (index, row) in rows.enumerated() {
                row.bytes.withUnsafeBytes {
                  UnsafeMutableRawBufferPointer(rebasing: memory[(index * type.byteCount)...]).copyMemory(from: $0)
                }
              }
            }))
      }
  }
}

extension LoopPart {
  fileprivate func scalar(_ value: HostValue, of slot: String) throws(StepError) -> Tensor {
    guard case .tensor(let tensor) = value, tensor.count == 1 else {
      throw refused(slot, "is \(value.type), expected one number, which says how many trips there are")
    }
    return tensor
  }

  fileprivate func refused(_ slot: String, _ reason: String, remedy: String? = nil) -> StepError {
    StepError(step: "loop '\(name)'", slot: slot, reason: reason, remedy: remedy)
  }
}

import KelvinBasics
import KelvinFeatures
import KelvinGraph

/// The iterations of a loop that the host executes: their inputs, their outputs, and the loop's results.
struct LoopIterations {
  /// A tensor of which each iteration receives a slice.
  fileprivate struct Scanned {
    let place: LoopPart.Scanned
    let tensor: Tensor
    let axis: Int

    var count: Int { tensor.shape[axis] }
  }

  private let loop: LoopPart
  /// The maximum number of iterations; nil if it is unlimited.
  private let limit: Int?
  private let scanned: [Scanned]
  private var goesOn: Bool
  private var iteration = 0
  /// For each carried value, its value at the start of the next iteration.
  private var carried: [HostValue]
  /// For each accumulated output, the rows of all iterations.
  private var rows: [[Tensor]]
  private var byteCount = 0
  /// The maximum byte count of all rows together.
  private static let byteLimit = 1 << 31

  /// - Parameter value: returns the value of a slot outside the loop.
  /// - Throws: `HostOperationError` for a limit or condition that is not a single number, for a scanned value without
  ///   slices, or for different slice counts.
  init(_ loop: LoopPart, _ value: (String) throws -> HostValue) throws {
    self.loop = loop
    scanned = try loop.scanned.map { try loop.scanned($0, value($0.whole)) }
    if let first = scanned.first, let other = scanned.first(where: { $0.count != first.count }) {
      throw loop.refused(
        other.place.whole,
        "has \(other.count) slices along axis \(other.axis), and '\(first.place.whole)' has \(first.count)")
    }
    let limit = try loop.limit.map { max(0, Self.whole(try loop.number(value($0), of: $0))) }
    self.limit = scanned.first?.count ?? limit
    goesOn = try loop.condition.map { try loop.number(value($0), of: $0).doubles[0] != 0 } ?? true
    carried = try loop.carried.map { try value($0.start) }
    rows = loop.rows.map { _ in [] }
  }

  /// Only neural networks have a floating-point limit; the loop continues while the iteration count is less than it.
  private static func whole(_ limit: Tensor) -> Int {
    guard limit.type.scalar.isFloatingPoint else { return limit.integers[0] }
    return Int(saturating: limit.doubles[0].rounded(.up))
  }

  /// Sets the body's slots at the start of an iteration.
  ///
  /// - Returns: false if there are no more iterations.
  func begin(in slots: inout [String: HostValue]) -> Bool {
    guard goesOn, limit.map({ iteration < $0 }) ?? true else { return false }
    if let number = loop.trip { slots[number] = .tensor(Tensor([Int64(iteration)], loop.tripShape)) }
    for (carried, value) in zip(loop.carried, carried) { slots[carried.given] = value }
    for scanned in scanned {
      let place = scanned.place.isBackwards ? scanned.count - 1 - iteration : iteration
      slots[scanned.place.slice] = .tensor(scanned.tensor.slice(at: place, along: scanned.axis))
    }
    return true
  }

  /// Takes the results of an iteration.
  ///
  /// - Parameter value: returns the value of a slot in the body.
  /// - Throws: `HostOperationError` for a condition that is not a single number, or if the rows exceed the memory
  ///   limit.
  mutating func end(_ value: (String) throws -> HostValue) throws {
    if let slot = loop.goesOn { goesOn = try loop.number(value(slot), of: slot).doubles[0] != 0 }
    carried = try loop.carried.map { try value($0.left) }
    for (index, place) in loop.rows.enumerated() {
      guard case .tensor(let row) = try value(place.row) else {
        throw loop.refused(place.row, "is not a tensor; expected one row per iteration")
      }
      byteCount += row.type.byteCount
      guard byteCount <= Self.byteLimit else {
        throw loop.refused(
          place.row, "has more than \(Self.byteLimit >> 20) MiB of rows after \(iteration + 1) iterations")
      }
      if let first = rows[index].first, first.type != row.type {
        throw loop.refused(
          place.row,
          "is \(row.type) in iteration \(iteration) and \(first.type) before; expected equal rows, which form one array",
          remedy: "carry the rows joined along an axis, or as a sequence")
      }
      rows[index].append(row)
    }
    iteration += 1
  }

  /// Returns an error of an iteration. If a limit was reached, the error names the iteration and the loop.
  func placed(_ error: any Error) -> any Error {
    // An error of a nested loop already names its iteration.
    guard let excess = WorkBudget.current?.excess, (error as? ModelError)?.code != .limit else { return error }
    return ModelError(.limit, "in iteration \(iteration + 1) of the loop '\(loop.name)': \(excess)", fault: .limit)
  }

  /// Returns the results of the loop, in the order of its outputs.
  ///
  /// - Throws: `HostOperationError` if the axis of accumulated rows does not exist.
  func results() throws -> [HostValue] {
    let left = zip(loop.carried, carried).filter { $0.0.result != nil }.map(\.1)
    return try left
      + zip(loop.rows, rows).map { place, rows in
        let type = rows.first?.type ?? place.rowType
        let rank = type.shape.rank + 1
        let axis = place.axis < 0 ? place.axis + rank : place.axis
        guard (0..<rank).contains(axis) else {
          throw loop.refused(place.row, "is \(type), which has no axis \(place.axis) for the rows")
        }
        return .tensor(Tensor(rows: place.isBackwards ? rows.reversed() : rows, of: type, along: axis))
      }
  }
}

extension LoopPart {
  fileprivate func number(_ value: HostValue, of slot: String) throws(HostOperationError) -> Tensor {
    try value.number(of: slot, "loop '\(name)'", saying: "the number of iterations")
  }

  fileprivate func scanned(_ place: Scanned, _ value: HostValue) throws(HostOperationError) -> LoopIterations.Scanned {
    guard case .tensor(let tensor) = value else {
      throw refused(place.whole, "is not a tensor; expected one slice per iteration")
    }
    let rank = tensor.shape.rank
    let axis = place.axis < 0 ? place.axis + rank : place.axis
    guard (0..<rank).contains(axis) else {
      throw refused(place.whole, "is \(tensor.type), which has no axis \(place.axis) for the slices")
    }
    return LoopIterations.Scanned(place: place, tensor: tensor, axis: axis)
  }

  fileprivate func refused(_ slot: String, _ reason: String, remedy: String? = nil) -> HostOperationError {
    HostOperationError(step: "loop '\(name)'", slot: slot, reason: reason, remedy: remedy)
  }
}

package import KelvinGraph

/// The rows and columns of the elements of ragged rows (`RaggedTensorToSparse` of onnxruntime-extensions). The input
/// is the index of the first element of each row, with the number of elements behind. Outputs: a row and a column for
/// each element as `[n, 2]`, and the numbers of rows and columns.
package struct RaggedPlaces: SlotOperation {
  package static let name = "ragged_places"
  package let slots: HostSlots

  package init(_ slots: HostSlots) { self.slots = slots }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let rows = try ranges(0, inputs)
    guard rows.first?.lowerBound ?? 0 == 0 else { throw refused(0, "the first row does not begin at 0") }
    let shape = try checked([rows.last?.upperBound ?? 0, 2], at: 0)
    let places = rows.enumerated().flatMap { row, range in range.indices.flatMap { _ in [Int64(row)] } }
    let columns = rows.flatMap { range in (0..<range.count).map { Int64($0) } }
    return [
      .tensor(Tensor(zip(places, columns).flatMap { [$0, $1] }, shape)),
      .list([rows.count, rows.map(\.count).max() ?? 0]),
    ]
  }
}

/// Ragged rows as a matrix (`RaggedTensorToDense` and `StringRaggedTensorToDense` of onnxruntime-extensions). Inputs:
/// one that is not read, the elements, the element that fills short rows, and the indices as of ``RaggedPlaces``.
/// Strings are filled with empty strings; their indices are the input before.
package struct RaggedMatrix: SlotOperation {
  package static let name = "ragged_matrix"
  package let slots: HostSlots

  package init(_ slots: HostSlots) { self.slots = slots }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    let isString = if case .strings = inputs[1] { true } else { false }
    let position = isString ? 2 : 3
    let rows = try ranges(position, inputs)
    let width = rows.map(\.count).max() ?? 0
    let shape = try checked([rows.count, width], at: position)
    let count = isString ? try strings(1, inputs).strings.count : try integers(1, inputs).count
    guard rows.last?.upperBound ?? 0 <= count else {
      throw refused(position, "rows end at \(rows.last?.upperBound ?? 0) of \(count) elements")
    }
    func dense<Element>(_ elements: [Element], _ filler: Element) -> [Element] {
      rows.flatMap { elements[$0] + [Element](repeating: filler, count: width - $0.count) }
    }
    if isString { return [try limited(dense(try strings(1, inputs).strings, ""), shape)] }
    return [.tensor(Tensor(dense(try integers(1, inputs).words, Int64(try integer(2, inputs))), shape))]
  }
}

extension SlotOperation {
  /// Returns the ranges between consecutive integers of an input.
  fileprivate func ranges(_ position: Int, _ inputs: [HostValue]) throws(HostOperationError) -> [Range<Int>] {
    let ends = try integers(position, inputs).integers
    guard let first = ends.first, first >= 0, zip(ends, ends.dropFirst()).allSatisfy({ $0 <= $1 }) else {
      throw refused(position, "the row indices \(ends.prefix(8)) do not ascend from 0 on", remedy: "give at least one")
    }
    return zip(ends, ends.dropFirst()).map { $0..<$1 }
  }
}

/// The distinct slices along an axis, and their positions.
package struct Unique: Operator {
  package static let name = "unique"
  package var axis: Int
  package var isSorted: Bool

  package init(axis: Int = 0, isSorted: Bool = true) {
    self.axis = axis
    self.isSorted = isSorted
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    let x = inputs[0]
    guard x.shape.dimensions.indices.contains(axis) else { throw OperatorError("\(x) has no axis \(axis)") }
    let count = x.shape[axis]
    guard count <= Int(Int32.max) else { throw OperatorError("\(count) slices are more than an int32 counts") }
    let places = TensorType(.int64, [count])
    return [places, places, places, TensorType(.int32, [1])]
  }

  /// A merge sort whose comparisons read half of each slice on average.
  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    let count = inputs[0].shape[axis]
    var passes = 1.0
    while passes < 32, count >> Int(passes) > 0 { passes += 1 }
    return Double(inputs[0].count) * passes
  }

  package static let summary = OperatorSummary(
    formula: "slices x[i] and x[j] along the axis are equal if all their elements are",
    notes: """
      Both zeros are equal, and not-a-number equals itself. Sorted slices are in lexicographic order, with \
      not-a-number last. `N` is the number of slices; entries after the count hold zeros.
      """,
    inputs: [("x", "any type, at most 2^31 - 1 slices")],
    outputs: [
      ("firsts", "the first position of each distinct slice, int64 `[N]`"),
      ("inverse", "for each slice the index of its distinct slice, int64 `[N]`"),
      ("occurrences", "the number of occurrences of each distinct slice, int64 `[N]`"),
      ("count", "the number of distinct slices, int32 `[1]`"),
    ])

  package static let schema = AttributeSchema(
    Unique(), .optional("axis", \.axis, "the axis, counted from the front"),
    .optional(
      "sorted", \.isSorted, "whether slices are sorted; otherwise they keep the order of their first occurrence"))
}

/// Which slices along an axis are different, and where they are.
///
/// Two slices are the same where all their elements are; the zeros are equal, and so is not-a-number to itself. Ordered
/// they ascend by their first elements, of equal ones by the next, not-a-number last; else they stay in the order in
/// which they come first.
///
/// Input: x, of any type. Outputs, with `N` slices: int64 `[N]`, the place of the first of each different slice; int64
/// `[N]`, for each slice which of the different ones it is; int64 `[N]`, how often each different one is there; and how
/// many different ones there are, int32 `[1]`. Places past the count hold zeros in the first and the third.
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

  /// A merge sort that compares half of each slice.
  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    let count = inputs[0].shape[axis]
    var passes = 1.0
    while passes < 32, count >> Int(passes) > 0 { passes += 1 }
    return Double(inputs[0].count) * passes
  }

  package static let schema = AttributeSchema(
    Unique(), .optional("axis", \.axis), .optional("sorted", \.isSorted))
}

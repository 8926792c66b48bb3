import KelvinGraph

extension ConformanceCase {
  package static let unique: [ConformanceCase] = [
    node("floats", Unique(), .exactly(few(.float32, [37], 5))),
    node("float16, as they come", Unique(isSorted: false), .exactly(few(.float16, [23], 7))),
    node("rows", Unique(), .exactly(few(.float32, [31, 3], 2))),
    node("columns, as they come", Unique(axis: 1, isSorted: false), .exactly(few(.int32, [3, 29], 2))),
    node("the middle axis", Unique(axis: 1), .exactly(few(.uint8, [2, 13, 2], 2))),
    node("truths", Unique(isSorted: false), .exactly(few(.bool, [11], 2))),
    node("int64", Unique(), .exactly(Tensor([Int64]([5, -1, 1 << 40, 5, -1, 0]), [6]))),
    node(
      "not a number and zeros", Unique(),
      .exactly(Tensor([Float]([.nan, 0, -0.0, .infinity, .nan, -.infinity, 0]), [7]))),
    node("one", Unique(isSorted: false), .exactly(few(.float32, [1], 2))),
    node("empty slices", Unique(), .input([4, 0])),
    node("nothing", Unique(axis: 1), .input([3, 0])),
  ]

  /// Returns few different numbers, unordered.
  private static func few(_ scalar: ScalarType, _ shape: Shape, _ count: Int) -> Tensor {
    let values = (0..<shape.count).map { Double($0 * $0 * 7 % 11 % count) - (scalar == .float32 ? 1 : 0) }
    return Tensor(TensorType(scalar, shape), rounding: values)
  }
}

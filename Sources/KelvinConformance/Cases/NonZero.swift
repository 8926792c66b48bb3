import KelvinGraph

extension ConformanceCase {
  package static let nonZero: [ConformanceCase] = [
    node("floats", NonZero(), .exactly(holes(.float32, [3, 5, 7]))),
    node("float16", NonZero(scalar: .int32), .exactly(holes(.float16, [11, 3]))),
    node("truths", NonZero(), .exactly(holes(.bool, [37]))),
    node("int64", NonZero(), .exactly(Tensor([Int64]([0, 1 << 40, -1, 0, .min]), [5]))),
    node("uint8", NonZero(scalar: .int32), .exactly(holes(.uint8, [2, 3, 2, 5]))),
    node("not a number", NonZero(), .exactly(Tensor([Float]([.nan, -0.0, .infinity, 0, 1e-30]), [5]))),
    node("all", NonZero(), .exactly(Tensor(TensorType(.int32, [2, 3]), rounding: [1, 2, 3, 4, 5, 6]))),
    node("none", NonZero(), .exactly(Tensor(TensorType(.bool, [4, 2]), rounding: Array(repeating: 0, count: 8)))),
    node("nothing", NonZero(), .input([0, 3])),
  ]

  /// Returns a tensor in which every third and every fifth element is zero.
  private static func holes(_ scalar: ScalarType, _ shape: Shape) -> Tensor {
    let values = (0..<shape.count).map { index -> Double in
      if index % 3 == 0 || index % 5 == 0 { return 0 }
      return scalar == .bool ? 1 : Double(1 + index % 7)
    }
    return Tensor(TensorType(scalar, shape), rounding: values)
  }
}

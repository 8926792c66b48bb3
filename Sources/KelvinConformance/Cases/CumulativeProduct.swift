import KelvinGraph

extension ConformanceCase {
  package static let cumulativeProduct: [ConformanceCase] =
    [(false, false), (true, false), (false, true), (true, true)].flatMap { isExclusive, isReversed in
      let suffix = (isExclusive ? " exclusive" : "") + (isReversed ? " reversed" : "")
      func along(_ axis: Int) -> CumulativeProduct {
        CumulativeProduct(axis: axis, isExclusive: isExclusive, isReversed: isReversed)
      }
      let integers: [ScalarType] = [.int8, .uint8, .int16, .uint16, .int32, .uint32, .int64]
      let wrapping: [ConformanceCase] = integers.map { scalar in
        node("\(scalar.rawValue)" + suffix, along(1), .exactly(odd(scalar, [2, 13, 3])))
      }
      return wrapping + [
        // Factors around 1, so that no result is lost beside the largest one.
        node("rows" + suffix, along(1), .ranged([3, 37], 0.75...1.25)),
        node("middle" + suffix, along(1), .ranged([2, 5, 7], 0.75...1.25), scalar: .float16),
        node("lines" + suffix, along(1), .ranged([2, 3, 1031], 0.5...2)),
        node("zeros" + suffix, along(1), .exactly(Tensor([Float(2), 0, -3, 5, -0.5, 7, 1, 0], [2, 4]))),
        node("ones" + suffix, along(0), .ranged([1, 1], 0.5...2)),
      ]
    } + [
      node("long", CumulativeProduct(axis: 1), .ranged([2, 1009], 0.97...1.03)),
      node("empty", CumulativeProduct(axis: 0), .input([0, 3])),
      node("empty lines", CumulativeProduct(axis: 0), .input([3, 0])),
    ]

  /// Odd numbers of up to seven bits, some of them negative where the type has a sign: products of a dozen wrap in every
  /// type, and none is 0.
  private static func odd(_ scalar: ScalarType, _ shape: Shape) -> Tensor {
    let isUnsigned = scalar == .uint8 || scalar == .uint16 || scalar == .uint32
    let values = (0..<shape.count).map { (place: Int) -> Double in
      let value = Double((place * 74 + 20) % 126 + 1)
      return isUnsigned || place % 5 != 0 ? value : -value
    }
    return Tensor(TensorType(scalar, shape), rounding: values)
  }
}

import KelvinGraph

extension ConformanceCase {
  package static let unary: [ConformanceCase] =
    UnaryFunction.Kind.allCases.filter { $0 != .logicalNot }.flatMap { kind in
      [ScalarType.float32, .float16].map { scalar in
        let function = UnaryFunction(kind, a: kind.sampleA, b: kind.sampleB)
        return node("\(function)", Unary(function), .ranged([3, 5, 67], kind.sampleRange), scalar: scalar)
      }
    } + [
      node("relu on one element", Unary(.relu), .input([1])),
      node("relu on more elements than the fewest texels", Unary(.relu), .input([2, 1 << 15 + 3])),
      node("sigmoid at the extremes", Unary(.sigmoid), .ranged([101], -120...120)),
      node("tanh at the extremes", Unary(UnaryFunction(.tanh)), .ranged([101], -40...40)),
      node("exp at the extremes", Unary(UnaryFunction(.exp)), .ranged([257], -100...88)),
      node("silu at the extremes", Unary(.silu), .ranged([101], -120...120)),
      node("hard_swish where it leaves zero", Unary(.hardSwish), .ranged([101], -3.00001...(-2.9999))),
      node(
        "thresholded_relu at the extremes", Unary(UnaryFunction(.thresholdedRelu, a: Float(0.5).nextUp)),
        .exactly(Tensor([Float]([-.infinity, .infinity, 0.5, Float(0.5).nextUp, -0.5, 0]), [6]))),
    ]

  package static let binary: [ConformanceCase] =
    Binary.Function.allCases.filter { $0.takes(.float32) }.flatMap { function in
      let range: ClosedRange<Float> = function == .power ? 0.1...3 : 0.25...2
      return [ScalarType.float32, .float16].flatMap { scalar in
        [
          node(
            "\(function.rawValue) equal shapes", Binary(function), .ranged([2, 3, 17], range),
            .ranged([2, 3, 17], range), scalar: scalar),
          node(
            "\(function.rawValue) scalar", Binary(function), .ranged([5, 7], range), .values([1.5], []), scalar: scalar),
          node(
            "\(function.rawValue) channels", Binary(function), .ranged([1, 5, 7, 3], range),
            .values([0.5, 1, 1.5, 2, 2.5], [1, 5, 1, 1]), scalar: scalar),
        ]
      }
    } + [
      node("add both ways", Binary(.add), .input([3, 1, 5]), .input([4, 1])),
      node("multiply planes", Binary(.multiply), .input([1, 6, 7, 9]), .input([1, 6, 1, 1])),
      node("subtract from constant", Binary(.subtract), .values([1], []), .input([4, 9])),
      node("add rows", Binary(.add), .input([5, 19]), .weight([19])),
    ]

  package static let batchNormalization: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [([1, 5, 7, 3], "planes"), ([2, 3], "rows")].map { (shape: Shape, name) in
        let channels = shape[1]
        return node(
          name, BatchNormalization(epsilon: 1e-3), .input(shape), .weight([channels]), .weight([channels]),
          .weight([channels]), .values((0..<channels).map { 0.5 + Double($0) }, [channels]), scalar: scalar)
      }
    }

  package static let cast: [ConformanceCase] =
    [
      node("to float16", Cast(.float16), .ranged([7, 13], -70000...70000)),
      node("to float32", Cast(.float32), .input([7, 13]), scalar: .float16),
      node("to int32", Cast(.int32), .ranged([37], -9...9)),
      node("int64 to float32", Cast(.float32), .exactly(Tensor([Int64]([-3, 0, 7, 1 << 20]), [4]))),
    ]
    + [ScalarType.int8, .uint8, .int16, .uint16, .int32, .uint32, .uint64].flatMap { scalar in
      [
        node("int64 wraps to \(scalar.rawValue)", Cast(scalar), .exactly(wide)),
        node("\(scalar.rawValue) to int64", Cast(.int64), .exactly(wide.converted(to: scalar))),
        node("\(scalar.rawValue) to int32", Cast(.int32), .exactly(wide.converted(to: scalar))),
        node("float32 saturates to \(scalar.rawValue)", Cast(scalar), .exactly(outside)),
      ]
    }

  /// Numbers that do not fit narrower types.
  private static let wide = Tensor(
    [Int64]([0, -1, 127, 128, 256, 300, -129, 65_536, 1 << 31, -(1 << 33) - 7, (1 << 32) + 5, .max, .min]), [13])

  private static let outside = Tensor([Float]([-1e20, -70_000, -300, -0.9, 0.9, 300.5, 70_000, 1e20, .nan]), [9])
}

extension UnaryFunction.Kind {
  fileprivate var sampleRange: ClosedRange<Float> {
    switch self {
    case .log, .sqrt, .rsqrt, .reciprocal: 0.05...9
    case .tan: -1.4...1.4
    case .asin, .acos: -1...1
    case .acosh: 1...9
    case .atanh: -0.95...0.95
    default: -6...6
    }
  }

  fileprivate var sampleA: Float {
    switch self {
    case .clip: -0.5
    case .leakyRelu, .hardSigmoid: 0.2
    case .elu, .thresholdedRelu: 0.7
    case .selu: 1.67326
    case .rsqrt: 1e-3
    case .affine: 1.25
    case .scaledTanh: 1.7
    default: 0
    }
  }

  fileprivate var sampleB: Float {
    switch self {
    case .clip: 1.5
    case .selu: 1.0507
    case .hardSigmoid: 0.5
    case .affine: -0.75
    case .scaledTanh: 0.6
    default: 0
    }
  }
}

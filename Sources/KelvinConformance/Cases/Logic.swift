import KelvinGraph

extension ConformanceCase {
  package static let compare: [ConformanceCase] =
    Compare.Function.allCases.flatMap { function in
      [
        node(
          "\(function.rawValue) equal shapes", Compare(function), .exactly(steps(.float32, [3, 5, 7])),
          .exactly(steps(.float32, [3, 5, 7], from: 2))),
        node(
          "\(function.rawValue) float16 scalar", Compare(function), .exactly(steps(.float16, [5, 19])),
          .values([0.5], []),
          scalar: .float16),
        node(
          "\(function.rawValue) broadcast", Compare(function), .exactly(steps(.float32, [4, 1, 37])),
          .exactly(steps(.float32, [3, 1], from: 1))),
        node(
          "\(function.rawValue) int32", Compare(function), .exactly(steps(.int32, [131])),
          .exactly(steps(.int32, [131], from: 3))),
        node(
          "\(function.rawValue) int64 scalar", Compare(function), .exactly(steps(.int64, [2, 17])),
          .values([-1], []), scalar: .int64),
      ]
    } + [
      node(
        "equal not a number", Compare(.equal), .exactly(Tensor([Float]([.nan, 1, .infinity]), [3])),
        .exactly(Tensor([Float]([.nan, 1, .infinity]), [3]))),
      node(
        "less large integers", Compare(.less), .exactly(Tensor([Int64]([1 << 40, -(1 << 40), 16_777_217]), [3])),
        .exactly(Tensor([Int64]([(1 << 40) + 1, 0, 16_777_216]), [3]))),
      node("equal bool", Compare(.equal), .exactly(bits([3, 5])), .exactly(bits([3, 1], from: 1))),
    ]

  package static let select: [ConformanceCase] =
    [ScalarType.float32, .float16].flatMap { scalar in
      [
        node(
          "equal shapes", Select(), .exactly(bits([3, 5, 7])), .input([3, 5, 7]), .input([3, 5, 7]), scalar: scalar),
        node(
          "mask with a scalar", Select(), .exactly(bits([1, 1, 5, 37])), .input([2, 3, 5, 37]), .values([-9], []),
          scalar: scalar),
        node("scalars", Select(), .exactly(bits([5, 19])), .values([0], []), .values([-7], []), scalar: scalar),
        node("three ways", Select(), .exactly(bits([4, 1, 1])), .input([3, 1]), .input([5]), scalar: scalar),
        node("one condition", Select(), .exactly(bits([], from: 1)), .input([3, 5]), .input([5]), scalar: scalar),
      ]
    } + [
      node(
        "int64", Select(), .exactly(bits([3, 5])), .exactly(steps(.int64, [3, 5])),
        .exactly(Tensor([Int64]([1 << 40]), []))),
      node("bool", Select(), .exactly(bits([7])), .exactly(bits([7], from: 1)), .exactly(bits([1], from: 1))),
    ]

  package static let logic: [ConformanceCase] =
    [Binary.Function.logicalAnd, .logicalOr, .logicalXor].flatMap { function in
      [
        node(
          "\(function.rawValue) equal shapes", Binary(function), .exactly(bits([3, 37])),
          .exactly(bits([3, 37], from: 2))),
        node(
          "\(function.rawValue) broadcast", Binary(function), .exactly(bits([3, 1, 5])),
          .exactly(bits([7, 1], from: 1))),
      ]
    } + [node("logical_not", Unary(UnaryFunction(.logicalNot)), .exactly(bits([3, 67])))] + bitwise

  private static let bitwise: [ConformanceCase] =
    [ScalarType.int8, .uint8, .int16, .uint16, .int32, .uint32, .int64].flatMap { scalar in
      let values = Tensor([Int64]([0, 1, -1, 85, -128, 127, 1 << 40 | 3, .min, .max, 6, -77]), [11]).converted(
        to: scalar)
      let counts = Tensor([Int64]([0, 1, 3, 7, 8, 31, 33, 63, 64, 100, -1]), [11, 1]).converted(to: scalar)
      return [Binary.Function.logicalAnd, .logicalOr, .logicalXor, .shiftLeft, .shiftRight].map { function in
        node("\(function.rawValue) \(scalar.rawValue)", Binary(function), .exactly(values), .exactly(counts))
      }
    }

  package static let integers: [ConformanceCase] =
    [ScalarType.int32, .int64].flatMap { scalar in
      integerArithmetic(scalar) + integerFunctions(scalar) + integerReductions(scalar) + integerOverflow(scalar)
    } + [
      node(
        "negative powers", Binary(.power), .exactly(Tensor([Int64]([0, 1, -1, -1, 2]), [5])),
        .exactly(Tensor([Int64]([-1, -3, -3, -4, -1]), [5]))),
      node(
        "product beyond float64", Reduce(.product, axes: [0], keepsDimensions: false),
        .exactly(Tensor([Int64]([94_906_267, 94_906_267, -3]), [3]))),
      node("copies beyond float64", Expand([2, 3]), .exactly(Tensor([Int64]([(1 << 53) + 1]), [1]))),
      node(
        "add beyond float32", Binary(.add), .exactly(Tensor([Int64]([16_777_217, -(1 << 50)]), [2])),
        .exactly(Tensor([Int64]([2, 1]), [2]))),
    ]

  private static func integerArithmetic(_ scalar: ScalarType) -> [ConformanceCase] {
    Binary.Function.allCases.filter { !$0.isLogical }.flatMap { function -> [ConformanceCase] in
      let (name, isPower) = ("\(function.rawValue) \(scalar.rawValue)", function == .power)
      return [
        node(
          name, Binary(function), .exactly(steps(scalar, [3, 41])),
          .exactly(steps(scalar, [3, 41], from: isPower ? 3 : 5, magnitude: isPower))),
        node(
          name + " broadcast", Binary(function), .exactly(steps(scalar, [4, 1, 5])),
          .exactly(steps(scalar, [3, 1], from: 1, magnitude: isPower))),
      ]
    }
  }

  private static func integerFunctions(_ scalar: ScalarType) -> [ConformanceCase] {
    let functions = [UnaryFunction.relu, .clip(-1, 2)] + [.abs, .negate, .sign, .square].map { UnaryFunction($0) }
    return functions.map { node("\($0) \(scalar.rawValue)", Unary($0), .exactly(steps(scalar, [5, 13]))) } + [
      node("\(scalar.rawValue) to bool", Cast(.bool), .exactly(steps(scalar, [19]))),
      node("bool to \(scalar.rawValue)", Cast(scalar), .exactly(bits([19]))),
    ]
  }

  private static func integerOverflow(_ scalar: ScalarType) -> [ConformanceCase] {
    let ends = Tensor(TensorType(scalar, [2]), rounding: [.infinity, -.infinity])
    let (two, row) = (steps(scalar, [1], from: 5), Tensor(TensorType(scalar, [1, 2]), ends.bytes))
    return [Binary.Function.add, .subtract, .multiply, .power].map {
      node("\($0.rawValue) \(scalar.rawValue) wraps", Binary($0), .exactly(ends), .exactly(two))
    } + [
      node("negate \(scalar.rawValue) wraps", Unary(UnaryFunction(.negate)), .exactly(ends)),
      node("square \(scalar.rawValue) wraps", Unary(UnaryFunction(.square)), .exactly(ends)),
      node(
        "sum \(scalar.rawValue) wraps", Reduce(.sumOfSquares, axes: [1], keepsDimensions: false), .exactly(row)),
      node("cumulative \(scalar.rawValue) wraps", CumulativeReduce(.sum, axis: 1, isReversed: true), .exactly(row)),
    ]
  }

  private static func integerReductions(_ scalar: ScalarType) -> [ConformanceCase] {
    let functions: [Reduce.Function] = [.sum, .mean, .maximum, .minimum, .product, .l1, .sumOfSquares]
    let along = functions.flatMap { function in
      [[1], [0, 2]].map { axes in
        node(
          "\(function.rawValue) \(scalar.rawValue) along \(axes)",
          Reduce(function, axes: axes, keepsDimensions: false), .exactly(steps(scalar, [3, 5, 7])))
      }
    }
    return along
      + [ArgReduce.Function.maximum, .minimum].map { function in
        node(
          "\(function.rawValue) \(scalar.rawValue)", ArgReduce(function, axis: 1, keepsDimensions: false),
          .exactly(steps(scalar, [3, 11])))
      }
  }

  /// Returns -3, -2 … 3 repeatedly, so that many are equal and some are zero.
  static func steps(_ scalar: ScalarType, _ shape: Shape, from start: Int = 0, magnitude: Bool = false) -> Tensor {
    let values = (0..<shape.count).map { (index: Int) -> Double in
      let value = Double((index * 3 + start) % 7 - 3)
      return magnitude ? value.magnitude : value
    }
    return Tensor(TensorType(scalar, shape), rounding: values)
  }

  private static func bits(_ shape: Shape, from start: Int = 0) -> Tensor {
    Tensor(TensorType(.bool, shape), rounding: (0..<shape.count).map { Double(($0 + start) * 5 % 7 % 2) })
  }
}

// Written by dev/generate-elementwise.py from dev/elementwise. Do not edit.

extension UnaryFunction {
  package enum Kind: String, ElementwiseFunction {
    case relu, clip
    case leakyRelu = "leaky_relu"
    case elu, selu, sigmoid
    case hardSigmoid = "hard_sigmoid"
    case hardSwish = "hard_swish"
    case silu, tanh, softplus, softsign, gelu
    case geluTanh = "gelu_tanh"
    case exp, log, sqrt, abs, negate, reciprocal, floor, ceil, round, sign, erf, sin, cos, square, rsqrt, affine, tan,
      asin, acos, atan, sinh, cosh, asinh, acosh, atanh, exp2
    case thresholdedRelu = "thresholded_relu"
    case logicalNot = "logical_not"
    case scaledTanh = "scaled_tanh"

    package static let meanings: [Self: String] = [
      .relu: "`max(x, 0)`",
      .clip: "`min(max(x, a), b)`",
      .leakyRelu: "`x` where `x >= 0`, else `a * x`",
      .elu: "`x` where `x > 0`, else `a * (e^x - 1)`",
      .selu: "`b * x` where `x > 0`, else `b * a * (e^x - 1)`",
      .sigmoid: "`1 / (1 + e^-x)`",
      .hardSigmoid: "`min(max(a * x + b, 0), 1)`",
      .hardSwish: "`x * min(max(x / 6 + 1/2, 0), 1)`",
      .silu: "`x / (1 + e^-x)`",
      .tanh: "Hyperbolic tangent.",
      .softplus: "`ln(1 + e^x)`",
      .softsign: "`x / (1 + |x|)`",
      .gelu: "`x/2 * (1 + erf(x / sqrt 2))`",
      .geluTanh: "`x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`",
      .exp: "`e^x`",
      .log: "`ln x`",
      .sqrt: "The square root.",
      .abs: "`|x|`",
      .negate: "`-x`",
      .reciprocal: "`1 / x`",
      .floor: "Rounded down.",
      .ceil: "Rounded up.",
      .round: "To the nearest integer, ties to even.",
      .sign: "-1, 0 or 1.",
      .erf: "The error function.",
      .sin: "Of an angle in radians.",
      .cos: "Of an angle in radians.",
      .square: "`x * x`",
      .rsqrt: "`1 / sqrt(x + a)`",
      .affine: "`a * x + b`",
      .tan: "Of an angle in radians.",
      .asin: "The angle in radians whose sine is x.",
      .acos: "The angle in radians whose cosine is x.",
      .atan: "The angle in radians whose tangent is x.",
      .sinh: "`(e^x - e^-x) / 2`",
      .cosh: "`(e^x + e^-x) / 2`",
      .asinh: "`ln(x + sqrt(x^2 + 1))`",
      .acosh: "`ln(x + sqrt(x^2 - 1))`",
      .atanh: "`ln((1 + x) / (1 - x)) / 2`",
      .exp2: "`2^x`",
      .thresholdedRelu: "0 where `x < a`, else `x`",
      .logicalNot: "Of booleans only.",
      .scaledTanh: "`a * tanh(b * x)`",
    ]
  }

  /// The number that stands for no function.
  package static let noneCode: UInt32 = 255
}

extension UnaryFunction.Kind {
  /// The number of the parameters `a` and `b` that the function reads.
  package var parameterCount: Int {
    switch self {
    case .leakyRelu, .elu, .rsqrt, .thresholdedRelu: 1
    case .clip, .selu, .hardSigmoid, .affine, .scaledTanh: 2
    default: 0
    }
  }

  /// The floating-point operations per element; a transcendental function counts as 10.
  package var operations: Double {
    switch self {
    case .relu, .abs, .negate, .floor, .ceil, .round, .sign, .square, .thresholdedRelu, .logicalNot: 1
    case .clip, .leakyRelu, .sqrt, .reciprocal, .affine: 2
    case .hardSigmoid, .hardSwish, .softsign, .rsqrt: 4
    default: 12
    }
  }

  /// Whether integer kernels compute the function, whose result on an integer is an integer.
  package var keepsIntegers: Bool {
    switch self {
    case .relu, .clip, .abs, .negate, .floor, .ceil, .round, .sign, .square, .logicalNot: true
    default: false
    }
  }
}

extension Binary {
  package enum Function: String, ElementwiseFunction {
    case add, subtract, multiply, divide, minimum, maximum, power
    case floorDivide = "floor_divide"
    case modulo, remainder
    case logicalAnd = "logical_and"
    case logicalOr = "logical_or"
    case logicalXor = "logical_xor"
    case shiftLeft = "shift_left"
    case shiftRight = "shift_right"

    package static let meanings: [Self: String] = [
      .add: "`x + y`",
      .subtract: "`x - y`",
      .multiply: "`x * y`",
      .divide: "`x / y`",
      .minimum: "`min(x, y)`",
      .maximum: "`max(x, y)`",
      .power: "`x ^ y`",
      .floorDivide: "`floor(x / y)`",
      .modulo: "`x - y * floor(x / y)`: the sign of the divisor.",
      .remainder: "`x - y * trunc(x / y)`: the sign of the dividend.",
      .logicalAnd: "Of booleans, and of integers bit by bit.",
      .logicalOr: "Of booleans, and of integers bit by bit.",
      .logicalXor: "Of booleans, and of integers bit by bit.",
      .shiftLeft: "`x * 2^y` of integers. A negative y is as one beyond all bits.",
      .shiftRight: "`floor(x / 2^y)` of integers. A negative y is as one beyond all bits.",
    ]
  }
}

extension Compare {
  package enum Function: String, ElementwiseFunction {
    case equal
    case notEqual = "not_equal"
    case less
    case lessOrEqual = "less_or_equal"
    case greater
    case greaterOrEqual = "greater_or_equal"

    package static let meanings: [Self: String] = [
      .equal: "`x = y`",
      .notEqual: "`x ≠ y`",
      .less: "`x < y`",
      .lessOrEqual: "`x ≤ y`",
      .greater: "`x > y`",
      .greaterOrEqual: "`x ≥ y`",
    ]
  }
}

extension Reduce {
  package enum Function: String, ElementwiseFunction {
    case sum, mean, maximum, minimum, product, l1, l2
    case sumOfSquares = "sum_of_squares"
    case logSum = "log_sum"
    case logSumExp = "log_sum_exp"

    package static let meanings: [Self: String] = [
      .sum: "`Σx`",
      .mean: "`Σx / n`",
      .maximum: "`max x`",
      .minimum: "`min x`",
      .product: "`Πx`",
      .l1: "`Σ|x|`",
      .l2: "`sqrt(Σx²)`",
      .sumOfSquares: "`Σx²`",
      .logSum: "`ln Σx`",
      .logSumExp: "`ln Σe^x`",
    ]
  }
}

/// How a scatter combines an element with its update.
package enum ScatterReduction: String, ElementwiseFunction {
  case replace, add, multiply, minimum, maximum

  package static let meanings: [Self: String] = [
    .replace: "The update takes the place of the element; of several the last in row-major order.",
    .add: "`y + update`",
    .multiply: "`y * update`",
    .minimum: "`min(y, update)`",
    .maximum: "`max(y, update)`",
  ]
}

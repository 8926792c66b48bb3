// Written by dev/generate-elementwise.py from dev/elementwise. Do not edit.

extension UnaryFunction {
  package enum Kind: String, Hashable, Sendable, CaseIterable, AttributeConvertible {
    /// `max(x, 0)`
    case relu
    /// `min(max(x, a), b)`
    case clip
    /// `x` where `x >= 0`, else `a * x`
    case leakyRelu = "leaky_relu"
    /// `x` where `x > 0`, else `a * (e^x - 1)`
    case elu
    /// `b * x` where `x > 0`, else `b * a * (e^x - 1)`
    case selu
    /// `1 / (1 + e^-x)`
    case sigmoid
    /// `min(max(a * x + b, 0), 1)`
    case hardSigmoid = "hard_sigmoid"
    /// `x * min(max(x / 6 + 1/2, 0), 1)`
    case hardSwish = "hard_swish"
    /// `x / (1 + e^-x)`
    case silu
    /// Hyperbolic tangent.
    case tanh
    /// `ln(1 + e^x)`
    case softplus
    /// `x / (1 + |x|)`
    case softsign
    /// `x/2 * (1 + erf(x / sqrt 2))`
    case gelu
    /// `x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))`
    case geluTanh = "gelu_tanh"
    /// `e^x`
    case exp
    /// `ln x`
    case log
    /// The square root.
    case sqrt
    /// `|x|`
    case abs
    /// `-x`
    case negate
    /// `1 / x`
    case reciprocal
    /// Rounded down.
    case floor
    /// Rounded up.
    case ceil
    /// To the nearest integer, ties to even.
    case round
    /// -1, 0 or 1.
    case sign
    /// The error function.
    case erf
    /// Of an angle in radians.
    case sin
    /// Of an angle in radians.
    case cos
    /// `x * x`
    case square
    /// `1 / sqrt(x + a)`
    case rsqrt
    /// `a * x + b`
    case affine
    /// Of an angle in radians.
    case tan
    case asin
    case acos
    case atan
    case sinh
    case cosh
    case asinh
    case acosh
    case atanh
    /// `2^x`
    case exp2
    /// 0 where `x < a`, else `x`
    case thresholdedRelu = "thresholded_relu"
    /// Of booleans only.
    case logicalNot = "logical_not"
    /// `a * tanh(b * x)`
    case scaledTanh = "scaled_tanh"

    /// The function's number in kernels and shaders.
    package var code: UInt32 {
      switch self {
      case .relu: 0
      case .clip: 1
      case .leakyRelu: 2
      case .elu: 3
      case .selu: 4
      case .sigmoid: 5
      case .hardSigmoid: 6
      case .hardSwish: 7
      case .silu: 8
      case .tanh: 9
      case .softplus: 10
      case .softsign: 11
      case .gelu: 12
      case .geluTanh: 13
      case .exp: 14
      case .log: 15
      case .sqrt: 16
      case .abs: 17
      case .negate: 18
      case .reciprocal: 19
      case .floor: 20
      case .ceil: 21
      case .round: 22
      case .sign: 23
      case .erf: 24
      case .sin: 25
      case .cos: 26
      case .square: 27
      case .rsqrt: 28
      case .affine: 29
      case .tan: 30
      case .asin: 31
      case .acos: 32
      case .atan: 33
      case .sinh: 34
      case .cosh: 35
      case .asinh: 36
      case .acosh: 37
      case .atanh: 38
      case .exp2: 39
      case .thresholdedRelu: 40
      case .logicalNot: 41
      case .scaledTanh: 42
      }
    }
  }

  /// The numbers of what is no function of the table: to round to float16, and to leave x as it is.
  package static let roundsToHalfCode: UInt32 = 254
  package static let noneCode: UInt32 = 255
}

extension UnaryFunction.Kind {
  /// How many of `a` and `b` it reads.
  package var parameterCount: Int {
    switch self {
    case .leakyRelu, .elu, .rsqrt, .thresholdedRelu: 1
    case .clip, .selu, .hardSigmoid, .affine, .scaledTanh: 2
    default: 0
    }
  }

  /// Floating-point operations an element takes, transcendental functions counted as 10.
  package var operations: Double {
    switch self {
    case .relu, .abs, .negate, .floor, .ceil, .round, .sign, .square, .thresholdedRelu, .logicalNot: 1
    case .clip, .leakyRelu, .sqrt, .reciprocal, .affine: 2
    case .hardSigmoid, .hardSwish, .softsign, .rsqrt: 4
    default: 12
    }
  }

  /// Whether the function of an integer is an integer, and kernels of integers compute it.
  package var keepsIntegers: Bool {
    switch self {
    case .relu, .clip, .abs, .negate, .floor, .ceil, .round, .sign, .square, .logicalNot: true
    default: false
    }
  }
}

extension Binary {
  package enum Function: String, Hashable, Sendable, CaseIterable, AttributeConvertible {
    case add
    case subtract
    case multiply
    case divide
    case minimum
    case maximum
    /// `x ^ y`
    case power
    /// `floor(x / y)`
    case floorDivide = "floor_divide"
    /// `x - y * floor(x / y)`: the sign of the divisor.
    case modulo
    /// `x - y * trunc(x / y)`: the sign of the dividend.
    case remainder
    /// Of booleans, and of integers bit by bit, as the two after it.
    case logicalAnd = "logical_and"
    case logicalOr = "logical_or"
    case logicalXor = "logical_xor"
    /// `x * 2^y` of integers. A negative y is as one beyond all bits.
    case shiftLeft = "shift_left"
    /// `floor(x / 2^y)` of integers. A negative y is as one beyond all bits.
    case shiftRight = "shift_right"

    /// The function's number in kernels and shaders.
    package var code: UInt32 {
      switch self {
      case .add: 0
      case .subtract: 1
      case .multiply: 2
      case .divide: 3
      case .minimum: 4
      case .maximum: 5
      case .power: 6
      case .floorDivide: 7
      case .modulo: 8
      case .remainder: 9
      case .logicalAnd: 10
      case .logicalOr: 11
      case .logicalXor: 12
      case .shiftLeft: 13
      case .shiftRight: 14
      }
    }
  }
}

extension Compare {
  package enum Function: String, Hashable, Sendable, CaseIterable, AttributeConvertible {
    case equal
    case notEqual = "not_equal"
    case less
    case lessOrEqual = "less_or_equal"
    case greater
    case greaterOrEqual = "greater_or_equal"

    /// The function's number in kernels and shaders.
    package var code: UInt32 {
      switch self {
      case .equal: 0
      case .notEqual: 1
      case .less: 2
      case .lessOrEqual: 3
      case .greater: 4
      case .greaterOrEqual: 5
      }
    }
  }
}

extension Reduce {
  package enum Function: String, Hashable, Sendable, CaseIterable, AttributeConvertible {
    case sum
    case mean
    case maximum
    case minimum
    case product
    /// `Σ|x|`
    case l1
    /// `sqrt(Σx²)`
    case l2
    /// `Σx²`
    case sumOfSquares = "sum_of_squares"
    /// `ln Σx`
    case logSum = "log_sum"
    /// `ln Σe^x`
    case logSumExp = "log_sum_exp"

    /// The function's number in kernels and shaders.
    package var code: UInt32 {
      switch self {
      case .sum: 0
      case .mean: 1
      case .maximum: 2
      case .minimum: 3
      case .product: 4
      case .l1: 5
      case .l2: 6
      case .sumOfSquares: 7
      case .logSum: 8
      case .logSumExp: 9
      }
    }
  }
}

/// What a scatter does with an element and the update that falls on it.
package enum ScatterReduction: String, Hashable, Sendable, CaseIterable, AttributeConvertible {
  /// The update takes the place of the element; of several the last in row-major order.
  case replace
  case add
  case multiply
  case minimum
  case maximum

  /// The function's number in kernels and shaders.
  package var code: UInt32 {
    switch self {
    case .replace: 0
    case .add: 1
    case .multiply: 2
    case .minimum: 3
    case .maximum: 4
    }
  }
}

/// A function of one element, with up to two parameters. Used by `Unary` and as the activation of an `Epilogue`.
///
/// Every device implements the whole family from one table, so the family is one operator with a function, not one
/// operator a function. The position of a case in `Kind` is its number in kernels and shaders: new cases go to the end.
package struct UnaryFunction: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
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
    case exp, log, sqrt, abs, negate, reciprocal, floor, ceil
    /// To the nearest integer, ties to even.
    case round
    case sign, erf, sin, cos, square
    /// `1 / sqrt(x + a)`
    case rsqrt
    /// `a * x + b`
    case affine
    case tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh
    /// `2^x`
    case exp2
    /// `x` where `x >= a`, else 0
    case thresholdedRelu = "thresholded_relu"
    /// Of booleans only.
    case logicalNot = "logical_not"
  }

  package var kind: Kind
  package var a: Float
  package var b: Float

  package init(_ kind: Kind, a: Float = 0, b: Float = 0) {
    self.kind = kind
    self.a = a
    self.b = b
  }

  package static let relu = UnaryFunction(.relu)
  package static let sigmoid = UnaryFunction(.sigmoid)
  package static let silu = UnaryFunction(.silu)
  package static let hardSwish = UnaryFunction(.hardSwish)
  package static func clip(_ lower: Float, _ upper: Float) -> UnaryFunction { UnaryFunction(.clip, a: lower, b: upper) }

  /// The function's number in kernels and shaders.
  package var code: UInt32 { UInt32(Kind.allCases.firstIndex(of: kind) ?? 0) }

  /// Floating-point operations an element takes, transcendental functions counted as 10.
  package var operations: Double {
    switch kind {
    case .relu, .abs, .negate, .floor, .ceil, .round, .sign, .square, .thresholdedRelu, .logicalNot: 1
    case .clip, .leakyRelu, .affine, .reciprocal, .sqrt: 2
    case .hardSigmoid, .hardSwish, .softsign, .rsqrt: 4
    default: 12
    }
  }

  /// How many of `a` and `b` the function reads.
  package var parameterCount: Int {
    switch kind {
    case .clip, .selu, .hardSigmoid, .affine: 2
    case .leakyRelu, .elu, .rsqrt, .thresholdedRelu: 1
    default: 0
    }
  }
}

extension UnaryFunction: CustomStringConvertible {
  package var description: String { attributeValue.description }
}

extension UnaryFunction: AttributeConvertible {
  /// Parameters that the function does not read are left out where they are zero.
  package var attributeValue: AttributeValue {
    let set = b.bitPattern != 0 ? 2 : a.bitPattern != 0 ? 1 : 0
    let values = [a, b].prefix(max(parameterCount, set)).map(\.attributeValue)
    return values.isEmpty ? .text(kind.rawValue) : .call(kind.rawValue, values)
  }

  package init(_ value: AttributeValue) throws(OperatorError) {
    let (name, values): (String, [AttributeValue])
    switch value {
    case .text(let text): (name, values) = (text, [])
    case .call(let text, let parameters): (name, values) = (text, parameters)
    default: throw .expected("a function, such as relu or clip(0.0, 6.0)", value)
    }
    guard let kind = Kind(rawValue: name) else { throw OperatorError("'\(name)' is not a function of one element") }
    self.init(kind)
    guard (parameterCount...2).contains(values.count) else {
      throw OperatorError("\(name) takes \(parameterCount) parameters, got \(values.count)")
    }
    if values.count > 0 { a = try Float(values[0]) }
    if values.count > 1 { b = try Float(values[1]) }
  }
}

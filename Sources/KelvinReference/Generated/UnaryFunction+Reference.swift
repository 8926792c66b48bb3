// Written by dev/generate-elementwise.py from dev/elementwise. Do not edit.
import Glibc
import KelvinGraph

extension UnaryFunction {
  /// The function's definition.
  @Sendable func evaluate(_ x: Double) -> Double {
    let (a, b) = (Double(a), Double(b))
    switch kind {
    case .relu: return x.isNaN ? x : max(x, 0)
    case .clip: return x.isNaN ? x : min(max(x, a), b)
    case .leakyRelu: return x >= 0 ? x : a * x
    case .elu: return x > 0 ? x : a * expm1(x)
    case .selu: return x > 0 ? b * x : b * a * expm1(x)
    case .sigmoid: return 1 / (1 + exp(-x))
    case .hardSigmoid: return min(max(a * x + b, 0), 1)
    case .hardSwish: return x * min(max(x / 6 + 0.5, 0), 1)
    case .silu: return x / (1 + exp(-x))
    case .tanh: return Glibc.tanh(x)
    case .softplus: return max(x, 0) + log1p(exp(-Swift.abs(x)))
    case .softsign: return x / (1 + Swift.abs(x))
    case .gelu: return x / 2 * (1 + Glibc.erf(x / 2.0.squareRoot()))
    case .geluTanh: return x / 2 * (1 + Glibc.tanh((2 / Double.pi).squareRoot() * (x + 0.044715 * x * x * x)))
    case .exp: return Glibc.exp(x)
    case .log: return Glibc.log(x)
    case .sqrt: return x.squareRoot()
    case .abs: return Swift.abs(x)
    case .negate: return -x
    case .reciprocal: return 1 / x
    case .floor: return x.rounded(.down)
    case .ceil: return x.rounded(.up)
    case .round: return x.rounded(.toNearestOrEven)
    case .sign: return x.isNaN ? x : x > 0 ? 1 : x < 0 ? -1 : 0
    case .erf: return Glibc.erf(x)
    case .sin: return Glibc.sin(x)
    case .cos: return Glibc.cos(x)
    case .square: return x * x
    case .rsqrt: return 1 / (x + a).squareRoot()
    case .affine: return a * x + b
    case .tan: return Glibc.tan(x)
    case .asin: return Glibc.asin(x)
    case .acos: return Glibc.acos(x)
    case .atan: return Glibc.atan(x)
    case .sinh: return Glibc.sinh(x)
    case .cosh: return Glibc.cosh(x)
    case .asinh: return Glibc.asinh(x)
    case .acosh: return Glibc.acosh(x)
    case .atanh: return Glibc.atanh(x)
    case .exp2: return Glibc.exp2(x)
    case .thresholdedRelu: return x < a ? 0 : x
    case .logicalNot: return x == 0 ? 1 : 0
    case .scaledTanh: return a * Glibc.tanh(b * x)
    }
  }
}

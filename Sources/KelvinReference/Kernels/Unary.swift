import Glibc
import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addUnary() {
    add(Unary.self) { op, inputs in [inputs.values[0].map(op.function.evaluate)] }
  }
}

extension Unary: IntegerOperator {
  func integers<Word: ReferenceWord>(_ inputs: ReferenceInputs<Word>) -> [Word]? {
    let ends = [function.a, function.b].map { end in
      Word(truncatingIfNeeded: Tensor(TensorType(inputs.types[0].scalar, [1]), rounding: [Double(end)]).words[0])
    }
    let x = inputs.values[0]
    switch function.kind {
    case .relu: return x.map { max($0, 0) }
    case .clip: return x.map { min(max($0, ends[0]), ends[1]) }
    case .abs: return x.map { $0 < 0 ? 0 &- $0 : $0 }
    case .negate: return x.map { 0 &- $0 }
    case .floor, .ceil, .round: return x
    case .sign: return x.map { $0 == 0 ? 0 : $0 < 0 ? 0 &- 1 : 1 }
    case .square: return x.map { $0 &* $0 }
    case .logicalNot: return x.map { $0 == 0 ? 1 : 0 }
    default: return nil
    }
  }
}

extension UnaryFunction {
  /// The function's definition.
  @Sendable fileprivate func evaluate(_ x: Double) -> Double {
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
    case .thresholdedRelu: return x >= a ? x : 0
    case .logicalNot: return x == 0 ? 1 : 0
    }
  }
}

import Glibc
import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addBinary() {
    add(Binary.self) { op, inputs in
      let apply = op.real
      let (x, y) = (inputs.values[0], inputs.values[1])
      let (left, right) = (inputs.shape(0), inputs.shape(1))
      if left == right { return [zip(x, y).map(apply)] }
      let shape = inputs.outputs[0].shape
      return [zip(left.broadcastOffsets(to: shape), right.broadcastOffsets(to: shape)).map { apply(x[$0], y[$1]) }]
    }
  }
}

extension Binary {
  /// The function of floating-point numbers.
  fileprivate var real: @Sendable (Double, Double) -> Double {
    switch function {
    case .add: { $0 + $1 }
    case .subtract: { $0 - $1 }
    case .multiply: { $0 * $1 }
    case .divide: { $0 / $1 }
    case .minimum: { $0.isNaN || $1.isNaN ? .nan : min($0, $1) }
    case .maximum: { $0.isNaN || $1.isNaN ? .nan : max($0, $1) }
    case .power: { pow($0, $1) }
    case .floorDivide: { ($0 / $1).rounded(.down) }
    case .modulo: { $0.modulo($1) }
    case .remainder: { fmod($0, $1) }
    case .logicalAnd, .logicalOr, .logicalXor, .shiftLeft, .shiftRight: preconditionFailure("of integers alone")
    }
  }
}

extension Binary: IntegerOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) -> [Word]? {
    let (x, y, shape) = (inputs.values[0], inputs.values[1], inputs.outputs[0].shape)
    return zip(inputs.shape(0).broadcastOffsets(to: shape), inputs.shape(1).broadcastOffsets(to: shape)).map {
      function.combine(x[$0], y[$1])
    }
  }
}

extension Binary.Function {
  fileprivate func combine<Word: FixedWidthInteger>(_ x: Word, _ y: Word) -> Word {
    switch self {
    case .add: return x &+ y
    case .subtract: return x &- y
    case .multiply: return x &* y
    case .minimum: return min(x, y)
    case .maximum: return max(x, y)
    case .power: return Self.power(x, y)
    case .logicalAnd: return x & y
    case .logicalOr: return x | y
    case .logicalXor: return x ^ y
    // Swift's shifts accept any count.
    case .shiftLeft: return y < 0 ? 0 : x << y
    case .shiftRight: return x >> (y < 0 ? 64 : y)
    case .divide, .floorDivide, .modulo, .remainder: break
    }
    guard y != 0 else { return 0 }
    let (quotient, rest) = (x.dividedReportingOverflow(by: y).0, x.remainderReportingOverflow(dividingBy: y).0)
    let roundsDown = rest != 0 && (rest < 0) != (y < 0)
    switch self {
    case .divide: return quotient
    case .floorDivide: return roundsDown ? quotient - 1 : quotient
    case .modulo: return roundsDown ? rest + y : rest
    default: return rest
    }
  }

  private static func power<Word: FixedWidthInteger>(_ x: Word, _ exponent: Word) -> Word {
    if exponent < 0 {
      let isMinusOne = x != 0 && x &+ 1 == 0
      return x == 1 ? 1 : isMinusOne ? (exponent % 2 == 0 ? 1 : x) : 0
    }
    var (result, base, rest) = (Word(1), x, exponent)
    while rest > 0 {
      if rest & 1 == 1 { result = result &* base }
      base = base &* base
      rest >>= 1
    }
    return result
  }
}

extension Double {
  /// Returns the remainder of a floored division; exact if the signs agree.
  fileprivate func modulo(_ divisor: Double) -> Double {
    let rest = fmod(self, divisor)
    return rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest
  }
}

import Glibc
import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addBinary() {
    add(Binary.self) { op, inputs in
      let output = inputs.outputs[0]
      let apply = op.function(integers: !output.scalar.isFloatingPoint)
      let (x, y) = (inputs.values[0], inputs.values[1])
      let (left, right) = (inputs.shape(0), inputs.shape(1))
      if left == right { return [zip(x, y).map(apply)] }
      return [
        Positions(output.shape).map { apply(x[left.broadcastOffset($0)], y[right.broadcastOffset($0)]) }
      ]
    }
  }
}

extension Binary {
  fileprivate func function(integers: Bool) -> (Double, Double) -> Double {
    switch function {
    case .add: { $0 + $1 }
    case .subtract: { $0 - $1 }
    case .multiply: { $0 * $1 }
    case .divide: integers ? { $1 == 0 ? 0 : ($0 / $1).rounded(.towardZero) } : { $0 / $1 }
    case .minimum: { $0.isNaN || $1.isNaN ? .nan : min($0, $1) }
    case .maximum: { $0.isNaN || $1.isNaN ? .nan : max($0, $1) }
    case .power: { pow($0, $1) }
    case .floorDivide: integers ? { $1 == 0 ? 0 : ($0 / $1).rounded(.down) } : { ($0 / $1).rounded(.down) }
    case .modulo: { integers && $1 == 0 ? 0 : $0.modulo($1) }
    case .remainder: { integers && $1 == 0 ? 0 : fmod($0, $1) }
    case .logicalAnd: { $0 != 0 && $1 != 0 ? 1 : 0 }
    case .logicalOr: { $0 != 0 || $1 != 0 ? 1 : 0 }
    case .logicalXor: { ($0 != 0) != ($1 != 0) ? 1 : 0 }
    }
  }
}

extension Double {
  /// What is left of a division rounded down; exact where the signs agree.
  fileprivate func modulo(_ divisor: Double) -> Double {
    let rest = fmod(self, divisor)
    return rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest
  }
}

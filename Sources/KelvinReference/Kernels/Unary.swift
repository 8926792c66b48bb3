import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addUnary() {
    add(Unary.self) { op, inputs in [inputs.values[0].map(op.function.evaluate)] }
  }
}

extension Unary: IntegerOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) -> [Word]? {
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

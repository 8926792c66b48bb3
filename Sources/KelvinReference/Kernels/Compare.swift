import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addCompare() {
    add(Compare.self) { op, inputs in [op.compared(inputs).map { $0 ? 1 : 0 }] }
  }
}

extension Compare: IntegerOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) -> [Word]? {
    compared(inputs).map { $0 ? 1 : 0 }
  }

  fileprivate func compared<Element: Comparable>(_ inputs: ReferenceInputs<Element>) -> [Bool] {
    let (x, y) = (inputs.values[0], inputs.values[1])
    let shape = inputs.outputs[0].shape
    let holds: (Element, Element) -> Bool = function.holds()
    return zip(inputs.shape(0).broadcastOffsets(to: shape), inputs.shape(1).broadcastOffsets(to: shape)).map {
      holds(x[$0], y[$1])
    }
  }
}

extension Compare.Function {
  fileprivate func holds<Element: Comparable>() -> (Element, Element) -> Bool {
    switch self {
    case .equal: { $0 == $1 }
    case .notEqual: { $0 != $1 }
    case .less: { $0 < $1 }
    case .lessOrEqual: { $0 <= $1 }
    case .greater: { $0 > $1 }
    case .greaterOrEqual: { $0 >= $1 }
    }
  }
}

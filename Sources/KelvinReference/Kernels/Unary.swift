import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addUnary() {
    add(Unary.self) { op, inputs in [inputs.values[0].map(op.function.evaluate)] }
  }
}

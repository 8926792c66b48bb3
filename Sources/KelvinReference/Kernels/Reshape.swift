import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addReshape() {
    add(Reshape.self) { (op, inputs) throws(DeviceError) in [try op.moved(inputs)] }
  }
}

extension Reshape: IntegerOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) throws(DeviceError) -> [Word]? {
    try moved(inputs)
  }

  fileprivate func moved<Element: ReferenceElement>(
    _ inputs: ReferenceInputs<Element>
  ) throws(DeviceError) -> [Element] {
    inputs.values[0]
  }
}

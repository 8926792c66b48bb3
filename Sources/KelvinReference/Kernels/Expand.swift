import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addExpand() {
    add(Expand.self) { (op, inputs) throws(DeviceError) in [try op.moved(inputs)] }
  }
}

extension Expand: IntegerOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) throws(DeviceError) -> [Word]? {
    try moved(inputs)
  }

  fileprivate func moved<Element: ReferenceElement>(
    _ inputs: ReferenceInputs<Element>
  ) throws(DeviceError) -> [Element] {
    Positions(shape).map { inputs.values[0][inputs.shape(0).broadcastOffset($0)] }
  }
}

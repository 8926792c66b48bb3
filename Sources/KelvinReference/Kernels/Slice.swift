import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addSlice() {
    add(Slice.self) { (op, inputs) throws(DeviceError) in [try op.moved(inputs)] }
  }
}

extension Slice: IntegerOperator {
  func integers<Word: ReferenceInteger>(_ inputs: ReferenceInputs<Word>) throws(DeviceError) -> [Word]? {
    try moved(inputs)
  }

  fileprivate func moved<Element: ReferenceElement>(
    _ inputs: ReferenceInputs<Element>
  ) throws(DeviceError) -> [Element] {
    let shape = inputs.shape(0)
    return Positions(inputs.outputs[0].shape).map { position in
      let source = position.enumerated().map { starts[$0] + $1 * steps[$0] }
      return inputs.values[0][shape.offset(source)]
    }
  }
}

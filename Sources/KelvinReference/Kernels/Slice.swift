import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addSlice() {
    add(moving: Slice.self)
  }
}

extension Slice: MovingOperator {
  func moved<Element: ReferenceElement>(_ inputs: ReferenceInputs<Element>) throws(DeviceError) -> [Element] {
    let shape = inputs.shape(0)
    return Positions(inputs.outputs[0].shape).map { position in
      let source = position.enumerated().map { starts[$0] + $1 * steps[$0] }
      return inputs.values[0][shape.offset(source)]
    }
  }
}

import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addSelect() {
    add(moving: Select.self)
  }
}

extension Select: MovingOperator {
  func moved<Element: ReferenceElement>(_ inputs: ReferenceInputs<Element>) throws(DeviceError) -> [Element] {
    Positions(inputs.outputs[0].shape).map { position in
      let condition = inputs.values[0][inputs.shape(0).broadcastOffset(position)]
      let chosen = condition.index != 0 ? 1 : 2
      return inputs.values[chosen][inputs.shape(chosen).broadcastOffset(position)]
    }
  }
}

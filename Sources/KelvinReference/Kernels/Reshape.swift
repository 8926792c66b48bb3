import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addReshape() {
    add(moving: Reshape.self)
  }
}

extension Reshape: MovingOperator {
  func moved<Element: ReferenceElement>(_ inputs: ReferenceInputs<Element>) throws(DeviceError) -> [Element] {
    inputs.values[0]
  }
}

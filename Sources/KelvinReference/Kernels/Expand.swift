import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addExpand() {
    add(moving: Expand.self)
  }
}

extension Expand: MovingOperator {
  func moved<Element: ReferenceElement>(_ inputs: ReferenceInputs<Element>) throws(DeviceError) -> [Element] {
    inputs.shape(0).broadcastOffsets(to: shape).map { inputs.values[0][$0] }
  }
}

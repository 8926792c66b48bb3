import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addTranspose() {
    add(moving: Transpose.self)
  }
}

extension Transpose: MovingOperator {
  func moved<Element: ReferenceElement>(_ inputs: ReferenceInputs<Element>) throws(DeviceError) -> [Element] {
    let strides = inputs.shape(0).strides
    let steps = permutation.map { strides[$0] }
    return StridedOffsets(inputs.outputs[0].shape, strides: steps).map { inputs.values[0][$0] }
  }
}

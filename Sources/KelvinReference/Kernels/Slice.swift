import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addSlice() {
    add(moving: Slice.self)
  }
}

extension Slice: MovingOperator {
  func moved<Element: ReferenceElement>(_ inputs: ReferenceInputs<Element>) throws(DeviceError) -> [Element] {
    let strides = inputs.shape(0).strides
    let offsets = StridedOffsets(
      inputs.outputs[0].shape, strides: zip(strides, steps).map(&*), from: zip(strides, starts).map(&*).reduce(0, &+))
    return offsets.map { inputs.values[0][$0] }
  }
}

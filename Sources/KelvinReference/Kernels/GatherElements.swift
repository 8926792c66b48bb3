import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addGatherElements() {
    add(moving: GatherElements.self)
  }
}

extension GatherElements: MovingOperator {
  func moved<Element: ReferenceElement>(_ inputs: ReferenceInputs<Element>) throws(DeviceError) -> [Element] {
    let shape = inputs.shape(0)
    var result: [Element] = []
    for (position, index) in zip(Positions(inputs.shape(1)), inputs.values[1]) {
      var source = position
      source[axis] = try shape.index(index, along: axis, node: inputs.node)
      result.append(inputs.values[0][shape.offset(source)])
    }
    return result
  }
}

import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addGatherND() {
    add(moving: GatherND.self)
  }
}

extension GatherND: MovingOperator {
  func moved<Element: ReferenceElement>(_ inputs: ReferenceInputs<Element>) throws(DeviceError) -> [Element] {
    let (shape, indices) = (inputs.shape(0), inputs.shape(1))
    let depth = indices[indices.rank - 1]
    let outer = indices.rank - 1
    var result: [Element] = []
    for position in Positions(inputs.outputs[0].shape) {
      let tuple = indices.offset(Array(position[..<outer]) + [0])
      var source = Array(position[..<batchDimensions])
      for axis in 0..<depth {
        let index = inputs.values[1][tuple + axis]
        source.append(try shape.index(index, along: batchDimensions + axis, node: inputs.node))
      }
      result.append(inputs.values[0][shape.offset(source + position[outer...])])
    }
    return result
  }
}

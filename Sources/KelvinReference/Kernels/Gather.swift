import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addGather() {
    add(moving: Gather.self)
  }
}

extension Gather: MovingOperator {
  func moved<Element: ReferenceElement>(_ inputs: ReferenceInputs<Element>) throws(DeviceError) -> [Element] {
    let shape = inputs.shape(0)
    let (outer, size, inner) = shape.around(axis)
    var indices: [Int] = []
    for index in inputs.values[1] { indices.append(try shape.index(index, along: axis, node: inputs.node)) }
    var result: [Element] = []
    result.reserveCapacity(inputs.outputs[0].count)
    for row in 0..<outer {
      for index in indices {
        let start = (row * size + index) * inner
        result += inputs.values[0][start..<start + inner]
      }
    }
    return result
  }
}

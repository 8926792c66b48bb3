import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addConcat() {
    add(moving: Concat.self)
  }
}

extension Concat: MovingOperator {
  func moved<Element: ReferenceElement>(_ inputs: ReferenceInputs<Element>) throws(DeviceError) -> [Element] {
    let outer = inputs.shape(0).dimensions[..<axis].reduce(1, *)
    var result: [Element] = []
    result.reserveCapacity(inputs.outputs[0].count)
    for row in 0..<outer {
      for (type, values) in zip(inputs.types, inputs.values) {
        let length = type.shape.dimensions[axis...].reduce(1, *)
        result += values[row * length..<(row + 1) * length]
      }
    }
    return result
  }
}

import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addConcat() {
    add(Concat.self) { op, inputs in
      let outer = inputs.shape(0).dimensions[..<op.axis].reduce(1, *)
      var result: [Double] = []
      result.reserveCapacity(inputs.outputs[0].count)
      for row in 0..<outer {
        for (type, values) in zip(inputs.types, inputs.values) {
          let length = type.shape.dimensions[op.axis...].reduce(1, *)
          result += values[row * length..<(row + 1) * length]
        }
      }
      return [result]
    }
  }
}

import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addGather() {
    add(Gather.self) { op, inputs in
      let shape = inputs.shape(0)
      let size = shape[op.axis]
      let outer = shape.dimensions[..<op.axis].reduce(1, *)
      let inner = shape.dimensions[(op.axis + 1)...].reduce(1, *)
      var result: [Double] = []
      result.reserveCapacity(inputs.outputs[0].count)
      for row in 0..<outer {
        for index in inputs.values[1] {
          let wrapped = Int(saturating: index < 0 ? index + Double(size) : index)
          let start = (row * size + min(max(wrapped, 0), size - 1)) * inner
          result += inputs.values[0][start..<start + inner]
        }
      }
      return [result]
    }
  }
}

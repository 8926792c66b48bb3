import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addGatherElements() {
    add(GatherElements.self) { op, inputs in
      let shape = inputs.shape(0)
      return [
        zip(Positions(inputs.shape(1)), inputs.values[1]).map { position, index in
          var source = position
          source[op.axis] = shape.clampedIndex(index, along: op.axis)
          return inputs.values[0][shape.offset(source)]
        }
      ]
    }
  }
}

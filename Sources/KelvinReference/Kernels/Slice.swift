import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addSlice() {
    add(Slice.self) { op, inputs in
      let shape = inputs.shape(0)
      return [
        Positions(inputs.outputs[0].shape).map { position in
          let source = position.enumerated().map { op.starts[$0] + $1 * op.steps[$0] }
          return inputs.values[0][shape.offset(source)]
        }
      ]
    }
  }
}

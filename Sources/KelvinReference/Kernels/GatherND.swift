import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addGatherND() {
    add(GatherND.self) { op, inputs in
      let (shape, indices) = (inputs.shape(0), inputs.shape(1))
      let depth = indices[indices.rank - 1]
      let outer = indices.rank - 1
      return [
        Positions(inputs.outputs[0].shape).map { position in
          let tuple = indices.offset(Array(position[..<outer]) + [0])
          let indexed = (0..<depth).map {
            shape.clampedIndex(inputs.values[1][tuple + $0], along: op.batchDimensions + $0)
          }
          let source = Array(position[..<op.batchDimensions]) + indexed + Array(position[outer...])
          return inputs.values[0][shape.offset(source)]
        }
      ]
    }
  }
}

import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addTranspose() {
    add(Transpose.self) { op, inputs in
      let strides = inputs.shape(0).strides
      let steps = op.permutation.map { strides[$0] }
      return [
        Positions(inputs.outputs[0].shape).map { position in
          inputs.values[0][zip(position, steps).reduce(0) { $0 + $1.0 * $1.1 }]
        }
      ]
    }
  }
}

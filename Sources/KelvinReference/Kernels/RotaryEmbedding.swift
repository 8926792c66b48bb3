import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addRotaryEmbedding() {
    add(RotaryEmbedding.self) { op, inputs in
      let x = inputs.values[0]
      let shape = inputs.shape(0)
      let (length, half) = (shape[shape.rank - 1], op.width / 2)
      let angles = Shape(shape.dimensions.dropLast() + [half])
      let strides = [1, 2].map { inputs.shape($0).strides(broadcastTo: angles) }
      var y = x
      for position in Positions(angles) {
        func angle(_ table: Int) -> Double {
          inputs.values[table][zip(position, strides[table - 1]).reduce(0) { $0 + $1.0 * $1.1 }]
        }
        let (pair, row) = (
          position[angles.rank - 1], zip(position, angles.strides).reduce(0) { $0 + $1.0 * $1.1 } / half
        )
        let first = row * length + (op.isInterleaved ? 2 * pair : pair)
        let second = first + (op.isInterleaved ? 1 : half)
        y[first] = x[first] * angle(1) - x[second] * angle(2)
        y[second] = x[first] * angle(2) + x[second] * angle(1)
      }
      return [y]
    }
  }
}

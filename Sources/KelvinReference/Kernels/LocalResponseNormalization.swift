import Glibc
import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addLocalResponseNormalization() {
    add(LocalResponseNormalization.self) { op, inputs in
      let shape = inputs.shape(0)
      let inner = shape.dimensions.dropFirst(2).reduce(1, *)
      let x = inputs.values[0]
      return [
        x.indices.map { index in
          let (plane, pixel) = (index / inner, index % inner)
          let (image, channel) = (plane / shape[1], plane % shape[1])
          let sum = op.window(channel, of: shape[1]).reduce(0.0) { sum, neighbour in
            let value = x[(image * shape[1] + neighbour) * inner + pixel]
            return sum + value * value
          }
          return x[index] / pow(Double(op.k) + Double(op.alpha) / Double(op.size) * sum, Double(op.beta))
        }
      ]
    }
  }
}

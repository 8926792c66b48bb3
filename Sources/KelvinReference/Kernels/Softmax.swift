import Glibc
import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addSoftmax() {
    add(Softmax.self) { op, inputs in
      let shape = inputs.shape(0)
      let size = shape[op.axis]
      let inner = shape.dimensions[(op.axis + 1)...].reduce(1, *)
      let x = inputs.values[0]
      var y = x
      for line in 0..<(size == 0 ? 0 : x.count / size) {
        let start = line / inner * inner * size + line % inner
        let places = stride(from: start, to: start + size * inner, by: inner)
        let largest = places.map { x[$0] }.max() ?? 0
        let sum = places.reduce(0) { $0 + exp(x[$1] - largest) }
        for place in places { y[place] = exp(x[place] - largest) / sum }
      }
      return [y]
    }
  }
}

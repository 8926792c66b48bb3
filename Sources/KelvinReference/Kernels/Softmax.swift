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
      for row in 0..<(size == 0 ? 0 : x.count / size) {
        let start = row / inner * inner * size + row % inner
        let offsets = stride(from: start, to: start + size * inner, by: inner)
        let largest = offsets.map { x[$0] }.max() ?? 0
        let sum = offsets.reduce(0) { $0 + exp(x[$1] - largest) }
        for offset in offsets { y[offset] = exp(x[offset] - largest) / sum }
      }
      return [y]
    }
  }
}

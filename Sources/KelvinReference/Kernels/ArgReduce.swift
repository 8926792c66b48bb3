import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addArgReduce() {
    add(ArgReduce.self) { op, inputs in
      let shape = inputs.shape(0)
      let size = shape[op.axis]
      let inner = shape.dimensions[(op.axis + 1)...].reduce(1, *)
      let x = inputs.values[0]
      return [
        (0..<x.count / size).map { line in
          let start = line / inner * inner * size + line % inner
          var best = 0
          for place in 1..<max(size, 1) {
            let (candidate, current) = (x[start + place * inner], x[start + best * inner])
            let isBetter = op.function == .maximum ? candidate > current : candidate < current
            if isBetter || (op.takesLast && candidate == current) { best = place }
          }
          return Double(best)
        }
      ]
    }
  }
}

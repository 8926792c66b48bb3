import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addScatterND() {
    add(ScatterND.self) { op, inputs in
      let (shape, indices) = (inputs.shape(0), inputs.shape(1))
      let depth = indices[indices.rank - 1]
      let inner = shape.dimensions[depth...].reduce(1, *)
      var y = inputs.values[0]
      for tuple in 0..<indices.dimensions.dropLast().reduce(1, *) {
        let position = (0..<depth).compactMap { shape.validIndex(inputs.values[1][tuple * depth + $0], along: $0) }
        guard position.count == depth else { continue }
        let start = Shape(Array(shape.dimensions[..<depth])).offset(position) * inner
        for place in 0..<inner {
          y[start + place] = op.reduction.combine(y[start + place], inputs.values[2][tuple * inner + place])
        }
      }
      return [y]
    }
  }
}

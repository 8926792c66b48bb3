import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addNonZero() {
    add(NonZero.self) { _, inputs in
      let shape = inputs.shape(0)
      let found = inputs.values[0].indices.filter { inputs.values[0][$0] != 0 }
      var indices = [Double](repeating: 0, count: inputs.outputs[0].count)
      for (column, index) in found.enumerated() {
        var rest = index
        for axis in shape.dimensions.indices.reversed() {
          indices[axis * shape.count + column] = Double(rest % shape[axis])
          rest /= shape[axis]
        }
      }
      return [indices, [Double(found.count)]]
    }
  }
}

import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addTopK() {
    add(TopK.self) { op, inputs in
      let shape = inputs.shape(0)
      let lines = Lines(shape, along: op.axis)
      let picked = Lines(inputs.outputs[0].shape, along: op.axis)
      let x = inputs.values[0]
      var values = [Double](repeating: 0, count: inputs.outputs[0].count)
      var indices = values
      for line in 0..<lines.count {
        let order = (0..<lines.length).sorted { left, right in
          let (a, b) = (x[lines.place(line, left)], x[lines.place(line, right)])
          let isEqual = a == b || (a.isNaN && b.isNaN)
          return isEqual ? left < right : op.takesLargest == a.isLarger(than: b)
        }
        for (place, index) in order.prefix(op.count).enumerated() {
          values[picked.place(line, place)] = x[lines.place(line, index)]
          indices[picked.place(line, place)] = Double(index)
        }
      }
      return [values, indices]
    }
  }
}

extension Double {
  /// Compares two different values; not-a-number is larger than every number.
  fileprivate func isLarger(than other: Double) -> Bool { isNaN || self > other }
}

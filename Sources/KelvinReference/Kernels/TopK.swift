import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addTopK() {
    add(TopK.self) { op, inputs in
      let shape = inputs.shape(0)
      let rows = Rows(shape, along: op.axis)
      let picked = Rows(inputs.outputs[0].shape, along: op.axis)
      let x = inputs.values[0]
      var values = [Double](repeating: 0, count: inputs.outputs[0].count)
      var indices = values
      for row in 0..<rows.count {
        let order = (0..<rows.length).sorted { left, right in
          let (a, b) = (x[rows.offset(row, left)], x[rows.offset(row, right)])
          let isEqual = a == b || (a.isNaN && b.isNaN)
          return isEqual ? left < right : op.takesLargest == a.isLarger(than: b)
        }
        for (position, index) in order.prefix(op.count).enumerated() {
          values[picked.offset(row, position)] = x[rows.offset(row, index)]
          indices[picked.offset(row, position)] = Double(index)
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

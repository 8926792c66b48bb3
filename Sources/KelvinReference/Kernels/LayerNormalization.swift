import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addLayerNormalization() {
    add(LayerNormalization.self) { op, inputs in
      let length = op.length(inputs.types)
      let values = inputs.values
      var y = values[0]
      for start in stride(from: 0, to: y.count, by: max(length, 1)) {
        let row = values[0][start..<start + length]
        let mean = op.isCentered ? row.reduce(0, +) / Double(length) : 0
        let variance = row.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(length)
        let deviation = (variance + Double(op.epsilon)).squareRoot()
        for index in 0..<length {
          let scale = values.count > 1 ? values[1][index] : 1
          let shift = values.count > 2 ? values[2][index] : 0
          y[start + index] = (row[start + index] - mean) / deviation * scale + shift
        }
      }
      return [y]
    }
  }
}

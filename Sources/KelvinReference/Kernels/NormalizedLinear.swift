import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addNormalizedLinear() {
    add(NormalizedLinear.self) { op, inputs in
      let (columns, depth) = (inputs.shape(1)[0], inputs.shape(1)[1])
      let (x, weights) = (inputs.values[0], inputs.values[1])
      let scale = op.parameters > 0 ? inputs.values[2] : nil
      let shift = op.parameters > 1 ? inputs.values[3] : nil
      let bias = op.epilogue.hasBias ? inputs.values[2 + op.parameters] : nil
      let residual = op.epilogue.addsResidual ? inputs.values[inputs.values.count - 1] : nil
      var result: [Double] = []
      for start in stride(from: 0, to: x.count, by: max(depth, 1)) {
        let row = x[start..<start + depth]
        let mean = op.isCentered ? row.reduce(0, +) / Double(depth) : 0
        let variance = row.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(depth)
        let deviation = (variance + Double(op.epsilon)).squareRoot()
        let normalized = row.enumerated().map { index, element in
          (element - mean) / deviation * (scale?[index] ?? 1) + (shift?[index] ?? 0)
        }
        for column in 0..<columns {
          let products = (0..<depth).map { normalized[$0] * weights[column * depth + $0] }
          let sum = products.reduce(bias?[column] ?? 0, +) + (residual?[result.count] ?? 0)
          result.append(op.epilogue.activation?.evaluate(sum) ?? sum)
        }
      }
      return [result]
    }
  }
}

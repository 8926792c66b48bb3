import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addLinear() {
    add(Linear.self) { op, inputs in
      let (columns, depth) = (inputs.shape(1)[0], inputs.shape(1)[1])
      let rows = inputs.outputs[0].count / max(columns, 1)
      let bias = inputs.bias(op.epilogue)
      var result: [Double] = []
      result.reserveCapacity(rows * columns)
      for row in 0..<rows {
        for column in 0..<columns {
          var sum = bias?[column] ?? 0
          for index in 0..<depth {
            sum += inputs.values[0][row * depth + index] * inputs.values[1][column * depth + index]
          }
          result.append(sum)
        }
      }
      return [result]
    }
  }
}

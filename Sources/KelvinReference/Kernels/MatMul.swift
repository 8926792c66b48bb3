import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addMatMul() {
    add(MatMul.self) { op, inputs in
      let output = inputs.outputs[0].shape
      let (rows, columns) = (output[output.rank - 2], output[output.rank - 1])
      let depth = op.depth(inputs.types)
      let (left, right) = (inputs.shape(0), inputs.shape(1))
      let batches = Shape(Array(output.dimensions.dropLast(2)))
      var result: [Double] = []
      result.reserveCapacity(output.count)
      for batch in Positions(batches) {
        let x = Shape(Array(left.dimensions.dropLast(2))).broadcastOffset(batch) * rows * depth
        let y = Shape(Array(right.dimensions.dropLast(2))).broadcastOffset(batch) * depth * columns
        for row in 0..<rows {
          for column in 0..<columns {
            var sum = 0.0
            for index in 0..<depth {
              let a = inputs.values[0][x + (op.transposesX ? index * rows + row : row * depth + index)]
              let b = inputs.values[1][y + (op.transposesY ? column * depth + index : index * columns + column)]
              sum += a * b
            }
            result.append(sum)
          }
        }
      }
      return [result]
    }
  }
}

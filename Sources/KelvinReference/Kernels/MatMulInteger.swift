import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addMatMulInteger() {
    add(MatMulInteger.self) { op, inputs in
      let output = inputs.outputs[0].shape
      let (rows, columns) = (output[output.rank - 2], output[output.rank - 1])
      let depth = op.depth(inputs.types)
      let (left, right) = (inputs.shape(0), inputs.shape(1))
      let xZero = inputs.values[2][0]
      var sums: [Double] = []
      sums.reserveCapacity(output.count)
      for batch in Positions(Shape(Array(output.dimensions.dropLast(2)))) {
        let x = Shape(Array(left.dimensions.dropLast(2))).broadcastOffset(batch) * rows * depth
        let y = Shape(Array(right.dimensions.dropLast(2))).broadcastOffset(batch) * depth * columns
        for row in 0..<rows {
          for column in 0..<columns {
            let yZero = inputs.values[3].parameter(column)
            var sum = 0.0
            for index in 0..<depth {
              let b = inputs.values[1][y + (op.transposesY ? column * depth + index : index * columns + column)]
              sum += (inputs.values[0][x + row * depth + index] - xZero) * (b - yZero)
            }
            sums.append(sum)
          }
        }
      }
      return [requantized(sums, op.requantization, Array(inputs.values.dropFirst(4))) { $0 % columns }]
    }
  }
}

import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addLinearInteger() {
    add(LinearInteger.self) { op, inputs in
      let (columns, depth) = (inputs.shape(1)[0], inputs.shape(1)[1])
      let rows = inputs.outputs[0].count / max(columns, 1)
      let (scale, quantized) = dynamicallyQuantized(inputs.values[0])
      let bias = op.epilogue.hasBias ? inputs.values[LinearInteger.ownInputs] : nil
      var result: [Double] = []
      result.reserveCapacity(rows * columns)
      for row in 0..<rows {
        for column in 0..<columns {
          let zero = inputs.values[3].parameter(column)
          var sum = 0.0
          for index in 0..<depth {
            sum += quantized[row * depth + index] * (inputs.values[1][column * depth + index] - zero)
          }
          let total = Int32(truncatingIfNeeded: Int(saturating: sum))
          let product = Float(total) * (scale * Float(inputs.values[2].parameter(column)))
          result.append(Double(product) + (bias?[column] ?? 0))
        }
      }
      return [result]
    }
  }
}

/// Returns the scale of the range of numbers, and their quantized values minus the zero point.
private func dynamicallyQuantized(_ x: [Double]) -> (scale: Float, values: [Double]) {
  let isNumber = !x.contains(where: \.isNaN)
  let (lower, upper) = (Float(x.reduce(0) { $1 < $0 ? $1 : $0 }), Float(x.reduce(0) { $1 > $0 ? $1 : $0 }))
  let range = upper - lower
  let scale = !isNumber ? Float.nan : range == 0 ? 1 : range / 255
  let offset = (0 - lower / scale).rounded(.toNearestOrEven)
  let zero = offset.isNaN ? 0 : Double(offset).clamped(to: 0...255)
  let values = x.map { value in
    let places = Double((Float(value) / scale).rounded(.toNearestOrEven))
    return (places.isNaN ? 0 : (places + zero).clamped(to: 0...255)) - zero
  }
  return (scale, values)
}

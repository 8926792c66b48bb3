import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addBinaryInteger() {
    add(BinaryInteger.self) { op, inputs in
      let parameters = inputs.values[2...].map { $0[0] }
      let (xScale, xZero, yScale) = (parameters[0], parameters[1], parameters[2])
      let (yZero, scale, zero) = (parameters[3], parameters[4], parameters[5])
      let range = inputs.outputs[0].scalar.quantizedRange ?? 0...0
      return [
        Positions(inputs.outputs[0].shape).map { position in
          let x = (inputs.values[0][inputs.shape(0).broadcastOffset(position)] - xZero) * xScale
          let y = (inputs.values[1][inputs.shape(1).broadcastOffset(position)] - yZero) * yScale
          let result = ((op.function == .add ? x + y : x * y) / scale).rounded(.toNearestOrEven)
          return ((result.isNaN ? 0 : result) + zero).clamped(to: range)
        }
      ]
    }
  }
}

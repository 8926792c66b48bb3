import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addBatchNormalization() {
    add(BatchNormalization.self) { op, inputs in
      let shape = inputs.shape(0)
      let inner = shape.dimensions.dropFirst(2).reduce(1, *)
      return [
        inputs.values[0].enumerated().map { index, x in
          let channel = index / inner % shape[1]
          let deviation = (inputs.values[4][channel] + Double(op.epsilon)).squareRoot()
          return inputs.values[1][channel] * (x - inputs.values[3][channel]) / deviation + inputs.values[2][channel]
        }
      ]
    }
  }
}

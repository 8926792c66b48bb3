import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addConvolutionTranspose() {
    add(ConvolutionTranspose.self) { op, inputs in
      let (x, y) = (inputs.shape(0), inputs.outputs[0].shape)
      let input = Shape(Array(x.dimensions.dropFirst(2)))
      let output = Shape(Array(y.dimensions.dropFirst(2)))
      // The convolution that this is the transpose of maps the output to the input.
      let taps = op.window.connections(input: output, output: input)
      let (channels, filters) = (x[1] / op.groups, y[1] / op.groups)
      var result = [Double](repeating: 0, count: y.count)
      for batch in 0..<x[0] {
        for channel in 0..<x[1] {
          let from = (batch * x[1] + channel) * input.count
          for filter in 0..<filters {
            let to = (batch * y[1] + channel / channels * filters + filter) * output.count
            for (tap, pairs) in taps.enumerated() {
              let weight = inputs.values[1][(channel * filters + filter) * taps.count + tap]
              for pair in pairs { result[to + pair.input] += weight * inputs.values[0][from + pair.output] }
            }
          }
        }
      }
      return [result]
    }
  }
}

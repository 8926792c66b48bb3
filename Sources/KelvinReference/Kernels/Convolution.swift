import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addConvolution() {
    add(Convolution.self) { op, inputs in
      let (x, weights, y) = (inputs.shape(0), inputs.shape(1), inputs.outputs[0].shape)
      let input = Shape(Array(x.dimensions.dropFirst(2)))
      let output = Shape(Array(y.dimensions.dropFirst(2)))
      let taps = op.window.connections(input: input, output: output)
      let (filters, depth) = (weights[0], weights[1])
      let bias = inputs.bias(op.epilogue)
      var result = [Double](repeating: 0, count: y.count)
      inputs.values[0].withUnsafeBufferPointer { source in
        result.withUnsafeMutableBufferPointer { target in
          for batch in 0..<x[0] {
            for filter in 0..<filters {
              let group = filter / (filters / op.groups)
              let to = (batch * filters + filter) * output.count
              for index in 0..<output.count { target[to + index] = bias?[filter] ?? 0 }
              for channel in 0..<depth {
                let from = (batch * x[1] + group * depth + channel) * input.count
                for (tap, pairs) in taps.enumerated() {
                  let weight = inputs.values[1][(filter * depth + channel) * taps.count + tap]
                  for pair in pairs { target[to + pair.output] += weight * source[from + pair.input] }
                }
              }
            }
          }
        }
      }
      return [result]
    }
  }
}

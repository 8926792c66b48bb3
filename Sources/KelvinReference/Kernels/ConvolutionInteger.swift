import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addConvolutionInteger() {
    add(ConvolutionInteger.self) { op, inputs in
      let (x, weights, y) = (inputs.shape(0), inputs.shape(1), inputs.outputs[0].shape)
      let input = Shape(Array(x.dimensions.dropFirst(2)))
      let output = Shape(Array(y.dimensions.dropFirst(2)))
      let taps = op.window.connections(input: input, output: output)
      let (filters, depth) = (weights[0], weights[1])
      let xZero = inputs.values[2][0]
      var sums = [Double](repeating: 0, count: y.count)
      for batch in 0..<x[0] {
        for filter in 0..<filters {
          let group = filter / (filters / op.groups)
          let to = (batch * filters + filter) * output.count
          let weightZero = inputs.values[3].parameter(filter)
          for channel in 0..<depth {
            let from = (batch * x[1] + group * depth + channel) * input.count
            for (tap, pairs) in taps.enumerated() {
              let weight = inputs.values[1][(filter * depth + channel) * taps.count + tap] - weightZero
              for pair in pairs { sums[to + pair.output] += weight * (inputs.values[0][from + pair.input] - xZero) }
            }
          }
        }
      }
      let area = output.count
      return [requantized(sums, op.requantization, Array(inputs.values.dropFirst(4))) { $0 / area % filters }]
    }
  }
}

/// Returns the operator's result from integer sums; `channel` returns the channel or column of an offset.
func requantized(
  _ sums: [Double], _ requantization: Requantization?, _ extra: [[Double]], channel: (Int) -> Int
) -> [Double] {
  guard let requantization else { return sums.map { Double(Int32(truncatingIfNeeded: Int(saturating: $0))) } }
  return sums.enumerated().map { index, sum in
    let channel = channel(index)
    let total = Int32(truncatingIfNeeded: Int(saturating: sum + extra[0][channel]))
    let scaled = Double(Float(total) * Float(extra[1].parameter(channel))).rounded(.toNearestOrEven)
    return ((scaled.isNaN ? 0 : scaled) + extra[2][0]).clamped(to: requantization.lower...requantization.upper)
  }
}

extension [Double] {
  /// Returns the element of a channel, from one element for all channels or one for each.
  func parameter(_ channel: Int) -> Double { count == 1 ? self[0] : self[channel] }
}

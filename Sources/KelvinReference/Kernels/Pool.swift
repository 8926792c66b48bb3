import KelvinDevices
import KelvinGraph

extension ReferenceTable {
  mutating func addPool() {
    add(Pool.self) { op, inputs in
      let (x, y) = (inputs.shape(0), inputs.outputs[0].shape)
      let input = Shape(Array(x.dimensions.dropFirst(2)))
      let output = Shape(Array(y.dimensions.dropFirst(2)))
      let window = op.window
      var result: [Double] = []
      result.reserveCapacity(y.count)
      for plane in 0..<x[0] * x[1] {
        for position in Positions(output) {
          var values: [Double] = []
          var padded = 0
          for tap in Positions(Shape(window.kernel)) {
            // Two statements, since the compiler takes very long to type-check the single expression.
            let position = (0..<window.rank).map { (axis: Int) -> Int in
              let reached = tap[axis] * window.dilations[axis] - window.before[axis]
              return position[axis] * window.strides[axis] + reached
            }
            if (0..<window.rank).allSatisfy({ (0..<input[$0]).contains(position[$0]) }) {
              values.append(inputs.values[0][plane * input.count + input.offset(position)])
            } else if (0..<window.rank).allSatisfy({ position[$0] < input[$0] + window.after[$0] }) {
              padded += 1
            }
          }
          result.append(op.function.combine(values, padded: padded))
        }
      }
      return [result]
    }
  }
}

extension Pool.Function {
  fileprivate func combine(_ values: [Double], padded: Int) -> Double {
    switch self {
    case .maximum: values.contains(where: \.isNaN) ? .nan : values.max() ?? -.infinity
    case .average: values.reduce(0, +) / Double(values.count)
    case .averageIncludingPadding: values.reduce(0, +) / Double(values.count + padded)
    }
  }
}

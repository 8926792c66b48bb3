/// The largest element or the mean of each window.
package struct Pool: Operator {
  package enum Function: String, Hashable, Sendable, CaseIterable, AttributeConvertible {
    case maximum
    /// The mean with a divisor that counts the window's elements inside the input.
    case average
    /// The mean with a divisor that also counts elements in the padding, but not beyond it.
    case averageIncludingPadding = "average_including_padding"
  }

  package static let name = "pool"
  package var function: Function
  package var window: Window

  package init(_ function: Function, window: Window) {
    self.function = function
    self.window = window
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    let x = inputs[0]
    guard x.scalar.isFloatingPoint || (function == .maximum && x.scalar.isByte), x.shape.rank == window.rank + 2 else {
      throw OperatorError("expected \(window.rank + 2) dimensions of a floating-point type, got \(x)")
    }
    for axis in 0..<window.rank
    where window.before[axis] >= window.kernel[axis] * window.dilations[axis]
      || window.after[axis] >= window.kernel[axis] * window.dilations[axis]
    {
      throw OperatorError("padding of window \(window) leaves windows without any element")
    }
    let spatial = try window.outputSizes(Array(x.shape.dimensions.dropFirst(2)))
    return [TensorType(x.scalar, Shape(Array(x.shape.dimensions.prefix(2)) + spatial))]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    Double(outputs[0].count) * Double(window.count)
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    function == .maximum ? .exact : .accumulation(precision, inputs[0].scalar, length: window.count)
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    var axes = sameAxes(output) { $0 > 1 }
    // If sizes are rounded up, windows at the end reach beyond the padding, which no padding of a part expresses.
    guard !window.roundsUp else { return axes }
    for spatial in 0..<window.rank {
      let size = inputs[0].shape[spatial + 2]
      axes.append(
        SplitAxis(spatial + 2) { range in
          window.part(spatial, range, of: size).map { window, input in
            Part(Pool(function, window: window), [Part.Operand(axis: spatial + 2, range: input)])
          }
        })
    }
    return axes
  }

  package static let summary = OperatorSummary(
    formula: "y[n, c, i] = max or mean of x[n, c, i · stride + tap · dilation - before] over all taps",
    notes: """
      `average` divides by the number of the window's elements inside the input. `average_including_padding` also \
      counts elements in the padding, but not beyond it.
      """,
    inputs: [("x", "`[N, C, spatial…]`, floating-point; for maxima also 8-bit integers")],
    outputs: [("y", "`[N, C, spatial…]`, x's element type")])

  package static let schema = AttributeSchema(
    Pool(.maximum, window: Window(kernel: [])), .required("function", \.function, "maximum or kind of mean"),
    .group(\.window, Window.schema))
}

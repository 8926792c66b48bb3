/// Cross-correlation of each group's input channels with its filters, plus an epilogue.
package struct Convolution: Operator {
  package static let name = "convolution"
  package var window: Window
  package var groups: Int
  package var epilogue: Epilogue

  package init(window: Window, groups: Int = 1, epilogue: Epilogue = Epilogue()) {
    self.window = window
    self.groups = groups
    self.epilogue = epilogue
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    let expected = 2 + epilogue.inputCount
    try OperatorError.require(inputs, expected...expected)
    let (x, weights) = (inputs[0], inputs[1])
    guard x.scalar.isFloatingPoint, weights.scalar == x.scalar else {
      throw OperatorError("input and weights must share a floating-point type, got \(x) and \(weights)")
    }
    guard x.shape.rank == window.rank + 2, weights.shape.rank == window.rank + 2 else {
      throw OperatorError("expected \(window.rank + 2) dimensions of input and weights, got \(x) and \(weights)")
    }
    guard groups > 0, weights.shape[0] % groups == 0, weights.shape[0] > 0 else {
      throw OperatorError("\(weights.shape[0]) output channels do not divide into \(groups) groups")
    }
    guard weights.shape[1] * groups == x.shape[1] else {
      throw OperatorError(
        "weights have \(weights.shape[1] * groups) input channels (\(groups) groups), input has \(x.shape[1])")
    }
    guard Array(weights.shape.dimensions.dropFirst(2)) == window.kernel else {
      throw OperatorError("weights \(weights.shape) do not match a kernel of \(Shape(window.kernel))")
    }
    let spatial = try window.outputSizes(Array(x.shape.dimensions.dropFirst(2)))
    let output = TensorType(x.scalar, Shape([x.shape[0], weights.shape[0]] + spatial))
    try epilogue.check(inputs[2...], channels: weights.shape[0], output: output)
    return [output]
  }

  /// Whether each group has one input channel.
  package func isDepthwise(_ inputs: [TensorType]) -> Bool { groups > 1 && inputs[1].shape[1] == 1 }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    2 * Double(outputs[0].count) * Double(inputs[1].shape[1] * window.count)
      + epilogue.operations(count: outputs[0].count)
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    var tolerance = Tolerance.accumulation(
      precision, inputs[0].scalar, length: inputs[1].shape[1] * window.count)
    // Winograd's minimal filtering adds and subtracts sums that are larger than the results.
    if window.kernel == [3, 3], window.strides == [1, 1] { tolerance.absolute *= 2 }
    return tolerance
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    let unit = groups == 1 ? 1 : inputs[1].shape[0] / groups
    let images = SplitAxis(0) { range in
      Part(self, [Part.Operand(axis: 0, range: range), nil] + epilogue.parts(axis: 0, range, isOfChannels: false))
    }
    let channels = SplitAxis(1, unit: unit) { range in
      var (op, source) = (self, Part.Operand?.none)
      if groups > 1 {
        op.groups = range.count / unit
        let width = inputs[1].shape[1]
        let first = range.lowerBound / unit
        source = Part.Operand(axis: 1, range: first * width..<(first + op.groups) * width)
      }
      return Part(
        op, [source, Part.Operand(axis: 0, range: range)] + epilogue.parts(axis: 1, range, isOfChannels: true))
    }
    let spatial = (0..<window.rank).map { axis in
      SplitAxis(axis + 2) { range in
        window.part(axis, range, of: inputs[0].shape[axis + 2]).map { window, input in
          var op = self
          op.window = window
          return Part(
            op,
            [Part.Operand(axis: axis + 2, range: input), nil]
              + epilogue.parts(axis: axis + 2, range, isOfChannels: false))
        }
      }
    }
    return [images, channels] + spatial
  }

  package static let summary = OperatorSummary(
    formula: """
      y[n, m, i] = activation(Σ_c Σ_tap w[m, c, tap] · x[n, group(m) + c, i · stride + tap · dilation - before] + \
      bias[m] + residual[n, m, i])
      """,
    notes: "Padding counts as zero. Each group has its own input and output channels.",
    inputs: [
      ("x", "`[N, C, spatial…]`, floating-point"),
      ("weights", "`[M, C / groups, kernel…]`, x's element type"),
    ] + Epilogue.inputs,
    outputs: [("y", "`[N, M, spatial…]`, x's element type")])

  package static let schema = AttributeSchema(
    Convolution(window: Window(kernel: [])), .group(\.window, Window.schema),
    .optional("groups", \.groups, "number of groups; divides C and M"),
    .group(\.epilogue, Epilogue.schema))
}

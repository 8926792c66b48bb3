/// The transpose of a convolution: each element of x adds its multiple of the filters to the output, `stride` apart.
package struct ConvolutionTranspose: Operator {
  package static let name = "convolution_transpose"
  /// The convolution's window; its padding crops the output, and it does not round up.
  package var window: Window
  package var outputPadding: [Int]
  package var groups: Int

  package init(window: Window, outputPadding: [Int]? = nil, groups: Int = 1) {
    self.window = window
    self.outputPadding = outputPadding ?? window.kernel.map { _ in 0 }
    self.groups = groups
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 2...2)
    let (x, weights) = (inputs[0], inputs[1])
    guard x.scalar.isFloatingPoint, weights.scalar == x.scalar else {
      throw OperatorError("input and weights must share a floating-point type, got \(x) and \(weights)")
    }
    guard window.rank > 0, x.shape.rank == window.rank + 2, weights.shape.rank == window.rank + 2 else {
      throw OperatorError("expected \(window.rank + 2) dimensions of input and weights, got \(x) and \(weights)")
    }
    guard weights.shape[0] == x.shape[1], groups > 0, x.shape[1] > 0, x.shape[1] % groups == 0, weights.shape[1] > 0
    else {
      throw OperatorError(
        "expected weights [\(x.shape[1]), M / groups, …] for \(groups) groups of \(x), got \(weights)")
    }
    guard Array(weights.shape.dimensions.dropFirst(2)) == window.kernel else {
      throw OperatorError("weights \(weights.shape) do not match a kernel of \(Shape(window.kernel))")
    }
    let (channels, overflow) = weights.shape[1].multipliedReportingOverflow(by: groups)
    let spatial = try outputSizes(Array(x.shape.dimensions.dropFirst(2)))
    let shape = Shape([x.shape[0], channels] + spatial)
    guard !overflow, shape.isAddressable else { throw OperatorError("the output \(shape) is too large") }
    return [TensorType(x.scalar, shape)]
  }

  private func outputSizes(_ spatial: [Int]) throws(OperatorError) -> [Int] {
    let lists = [window.strides, window.dilations, window.before, window.after, outputPadding]
    let limit = 1 << 30
    guard lists.allSatisfy({ $0.count == window.rank }), !window.roundsUp else {
      throw OperatorError("window \(window): expected \(window.rank) entries for each of its parts, and no rounding up")
    }
    guard (window.kernel + window.strides + window.dilations + spatial).allSatisfy({ (1..<limit).contains($0) }),
      (window.before + window.after + outputPadding).allSatisfy({ (0..<limit).contains($0) })
    else { throw OperatorError("window \(window) on \(Shape(spatial)): sizes must be positive and below 2^30") }
    return try (0..<window.rank).map { (axis) throws(OperatorError) in
      let size =
        (spatial[axis] - 1) * window.strides[axis] - window.before[axis] - window.after[axis]
        + window.dilations[axis] * (window.kernel[axis] - 1) + 1 + outputPadding[axis]
      guard size > 0 else { throw OperatorError("window \(window) leaves nothing of an input of \(Shape(spatial))") }
      return size
    }
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    2 * Double(inputs[0].count) * Double(inputs[1].shape[1]) * Double(window.count)
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    let taps = zip(window.kernel, window.strides).reduce(1) { $0 * (($1.0 + $1.1 - 1) / $1.1) }
    return .accumulation(precision, inputs[0].scalar, length: inputs[0].shape[1] / groups * taps)
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    let unit = inputs[1].shape[1]
    guard groups > 1 else { return [SplitAxis(0, self, [0, nil]), SplitAxis(1, self, [nil, 1])] }
    let channels = SplitAxis(1, unit: unit) { range in
      var op = self
      op.groups = range.count / unit
      let (width, first) = (inputs[0].shape[1] / groups, range.lowerBound / unit)
      let source = first * width..<(first + op.groups) * width
      return Part(op, [Part.Operand(axis: 1, range: source), Part.Operand(axis: 0, range: source)])
    }
    return [SplitAxis(0, self, [0, nil]), channels]
  }

  package static let summary = OperatorSummary(
    formula: "y[i · stride + tap · dilation - before] += x[i] · w[tap], along each axis",
    notes: """
      An axis of n elements gets `(n - 1) · stride - before - after + dilation · (kernel - 1) + 1 + output_padding` \
      elements. The window's padding crops the output, and the window does not round up.
      """,
    inputs: [
      ("x", "`[N, C, spatial…]`, floating-point"),
      ("weights", "`[C, M / groups, kernel…]`, x's element type"),
    ],
    outputs: [("y", "`[N, M, spatial…]`, x's element type")])

  package static let schema = AttributeSchema(
    ConvolutionTranspose(window: Window(kernel: [])), .group(\.window, Window.schema),
    .optional(
      "output_padding", \.outputPadding, "number of elements added at the end of each axis", "0 for each axis",
      default: { $0.window.kernel.map { _ in 0 } }),
    .optional("groups", \.groups, "number of groups; divides C and M"))
}

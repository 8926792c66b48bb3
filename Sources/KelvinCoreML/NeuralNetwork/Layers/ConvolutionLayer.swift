import KelvinGraph
import KelvinImport

extension LayerMapper {
  static let convolution = LayerMapper(Layers.convolution) { c in
    typealias Fields = LayerSchema.ConvolutionLayerParams
    let x = try c.input(0)
    let planes = try c.planes(x)
    let channels = c.emitter.shape(planes)[1]
    let kernel = try c.pair(Fields.kernelSize, default: 3)
    let outputs = try c.integer(Fields.outputChannels)
    let groups = try c.integer(Fields.nGroups, default: 1)
    guard groups > 0, outputs > 0, outputs % groups == 0 else {
      throw c.emitter.invalid("\(outputs) channels do not divide into \(groups) groups")
    }
    let isTransposed = try c.flag(Fields.isDeconvolution)
    guard channels % groups == 0 else {
      throw c.emitter.invalidSizes("\(channels) channels do not divide into \(groups) groups")
    }
    let expected = Shape([outputs, channels / groups] + kernel)
    let named = try c.integer(Fields.kernelChannels)
    if !isTransposed, c.inputs.count < 2, named > 0, named != expected[1], expected.isAddressable,
      try c.weights(Fields.weights).count() != expected.count
    {
      throw c.emitter.invalidSizes("\(channels) channels, its \(groups) groups of weights take \(named) each")
    }
    if isTransposed { return try c.deconvolution(x, planes, kernel, groups: groups) }
    let filters = try c.filters(expected)
    let window = try c.window(
      kernel: kernel, strides: try c.pair(Fields.stride, default: 1),
      dilations: try c.pair(Fields.dilationFactor, default: 1),
      padding: try c.spatialPadding(valid: Fields.valid, same: Fields.same), over: planes)
    var inputs = [planes, filters]
    if let bias = try c.bias([outputs]) { inputs.append(bias) }
    let op = Convolution(window: window, groups: groups, epilogue: Epilogue(hasBias: inputs.count == 3))
    return c.fromPlanes(try c.emitter.add(op, inputs), x)
  }
}

extension LayerContext {
  func window(
    kernel: [Int], strides: [Int], dilations: [Int], padding: SpatialPadding, roundsUp: Bool = false,
    over planes: ValueID
  ) throws -> Window {
    do {
      return try Window(
        kernel: kernel, strides: strides, dilations: dilations, padding: padding, roundsUp: roundsUp,
        over: Array(emitter.shape(planes).dimensions.dropFirst(2)))
    } catch { throw emitter.invalid(error.description) }
  }

  /// Returns the padding of a `ValidPadding` or a `SamePadding` field; without either there is no padding.
  func spatialPadding(valid: Int, same: Int) throws -> SpatialPadding {
    switch try choice(among: [valid, same]) {
    case same:
      let mode = try message(same)?.integer(LayerSchema.SamePadding.asymmetryMode) ?? 0
      return .same(oddAtEnd: mode == LayerSchema.SamePadding.SamePaddingMode.bottomRightHeavy)
    case valid:
      guard let amounts = try message(valid)?.message(LayerSchema.ValidPadding.paddingAmounts) else {
        return .none
      }
      let borders = try amounts.borders(emitter)
      return .explicit(before: borders.map(\.before), after: borders.map(\.after))
    default: return .none
    }
  }

  /// Returns the weights: those in the file, or the second input.
  fileprivate func filters(_ shape: Shape, channelAxis: Int = 0, groups: Int = 1) throws -> ValueID {
    guard inputs.count > 1 else {
      let weights = try weights(LayerSchema.ConvolutionLayerParams.weights)
      return emitter.constant(try weights.weight(shape, channelAxis: channelAxis, groups: groups), step: "weights")
    }
    return try parameter(1, shape)
  }

  /// Returns the bias: the one in the file, or the third input; nil if the layer has none.
  fileprivate func bias(_ shape: Shape) throws -> ValueID? {
    if inputs.count > 2 { return try parameter(2, shape) }
    guard try flag(LayerSchema.ConvolutionLayerParams.hasBias) else { return nil }
    return try constant(try weights(LayerSchema.ConvolutionLayerParams.bias), shape, step: "bias")
  }

  /// Returns an input that replaces weights. Its shape may differ from theirs in axes of size 1.
  private func parameter(_ index: Int, _ shape: Shape) throws -> ValueID {
    let given = try input(index)
    guard given.shape.dimensions.filter({ $0 != 1 }) == shape.dimensions.filter({ $0 != 1 }) else {
      throw emitter.invalid("'\(inputs[index])' is \(given.shape), expected \(shape)")
    }
    return try view(given, shape)
  }

  /// Emits a transposed convolution. `[H, W]` grow to `(size - 1) · stride + dilation · (kernel - 1) + 1`, less the
  /// amounts that the padding removes.
  fileprivate func deconvolution(_ x: Blob, _ planes: ValueID, _ kernel: [Int], groups: Int) throws -> Blob {
    typealias Fields = LayerSchema.ConvolutionLayerParams
    let shape = emitter.shape(planes)
    let outputs = try integer(Fields.outputChannels)
    let strides = try pair(Fields.stride, default: 1)
    let dilations = try pair(Fields.dilationFactor, default: 1)
    guard (kernel + strides + dilations).allSatisfy({ (1..<(1 << 31)).contains($0) }),
      shape.dimensions.allSatisfy({ $0 < 1 << 31 })
    else {
      throw emitter.invalid("kernel \(kernel), strides \(strides) and dilations \(dilations): expected 1 to 2^31 - 1")
    }
    let wanted = try integers(Fields.outputShape)
    let padding = try spatialPadding(valid: Fields.valid, same: Fields.same)
    var (before, after, extra) = ([0, 0], [0, 0], [0, 0])
    for axis in 0..<2 {
      let full = (shape[2 + axis] - 1) * strides[axis] + dilations[axis] * (kernel[axis] - 1) + 1
      let size: Int
      var isOddAtEnd = true
      if wanted.count == 2 {
        size = wanted[axis]
      } else if case .same(let oddAtEnd) = padding {
        size = shape[2 + axis] * strides[axis]
        isOddAtEnd = oddAtEnd
      } else {
        if case .explicit(let first, let last) = padding { (before, after) = (first, last) }
        continue
      }
      guard (1..<(1 << 31)).contains(size) else { throw emitter.invalid("a result of size \(size)") }
      let cut = max(0, full - size)
      (before[axis], after[axis]) = isOddAtEnd ? (cut / 2, cut - cut / 2) : (cut - cut / 2, cut / 2)
      extra[axis] = max(0, size - full)
    }
    let filters = try filters(Shape([shape[1], outputs / groups] + kernel), channelAxis: 1, groups: groups)
    let bias = try bias([outputs, 1, 1])
    let op = ConvolutionTranspose(
      window: Window(kernel: kernel, strides: strides, dilations: dilations, before: before, after: after),
      outputPadding: extra, groups: groups)
    let result = try emitter.add(op, planes, filters, step: bias == nil ? nil : "unbiased")
    guard let bias else { return fromPlanes(result, x) }
    return fromPlanes(try emitter.binary(.add, result, bias), x)
  }
}

extension LayerParameters {
  /// Returns the amounts of a `BorderAmounts` message, before and after rows and columns.
  func borders(_ emitter: Emitter) throws -> [(before: Int, after: Int)] {
    typealias Fields = LayerSchema.BorderAmounts
    let edges = try messages(Fields.borderAmounts)
    if edges.isEmpty { return [(0, 0), (0, 0)] }
    guard edges.count == 2 else { throw emitter.invalid("\(edges.count) border amounts, expected 2") }
    return try edges.map { edge in
      let before = try edge.integer(Fields.EdgeSizes.startEdgeSize) ?? 0
      let after = try edge.integer(Fields.EdgeSizes.endEdgeSize) ?? 0
      guard (0..<(1 << 31)).contains(before), (0..<(1 << 31)).contains(after) else {
        throw emitter.invalid("a border of \(before) and \(after)")
      }
      return (before, after)
    }
  }
}

import KelvinGraph
import KelvinImport

extension LayerMapper {
  static let convolution = LayerMapper(NetworkSchema.NeuralNetworkLayer.convolution) { layer, scope in
    typealias Fields = LayerSchema.ConvolutionLayerParams
    let parameters = layer.parameters
    let x = try layer.input(0, scope)
    let planes = try scope.planes(x)
    let channels = scope.emitter.shape(planes)[1]
    let kernel = try layer.pair(Fields.kernelSize, default: 3, scope)
    let outputs = try parameters.integer(Fields.outputChannels) ?? 0
    let groups = try parameters.integer(Fields.nGroups, default: 1)
    guard groups > 0, outputs > 0, outputs % groups == 0 else {
      throw scope.emitter.invalid("\(outputs) channels do not divide into \(groups) groups")
    }
    let isTransposed = try parameters.flag(Fields.isDeconvolution)
    guard channels % groups == 0 else {
      throw scope.emitter.invalidSizes("\(channels) channels do not divide into \(groups) groups")
    }
    let expected = Shape([outputs, channels / groups] + kernel)
    let named = try parameters.integer(Fields.kernelChannels) ?? 0
    if !isTransposed, layer.inputs.count < 2, named > 0, named != expected[1], expected.isAddressable,
      try layer.weights(Fields.weights, scope).count() != expected.count
    {
      throw scope.emitter.invalidSizes("\(channels) channels, its \(groups) groups of weights take \(named) each")
    }
    if isTransposed {
      return try layer.deconvolution(x, planes, kernel, groups: groups, scope)
    }
    let filters = try layer.filters(expected, scope)
    let window = try layer.window(
      kernel: kernel, strides: try layer.pair(Fields.stride, default: 1, scope),
      dilations: try layer.pair(Fields.dilationFactor, default: 1, scope),
      padding: try layer.spatialPadding(valid: Fields.valid, same: Fields.same, scope), over: planes, scope)
    var inputs = [planes, filters]
    if let bias = try layer.bias([outputs], scope) { inputs.append(bias) }
    let op = Convolution(window: window, groups: groups, epilogue: Epilogue(hasBias: inputs.count == 3))
    return scope.fromPlanes(try scope.emitter.add(op, inputs), x)
  }
}

extension NetworkLayer {
  func window(
    kernel: [Int], strides: [Int], dilations: [Int], padding: SpatialPadding, roundsUp: Bool = false,
    over planes: ValueID, _ scope: LayerScope
  ) throws -> Window {
    do {
      return try Window(
        kernel: kernel, strides: strides, dilations: dilations, padding: padding, roundsUp: roundsUp,
        over: Array(scope.emitter.shape(planes).dimensions.dropFirst(2)))
    } catch { throw scope.emitter.invalid(error.description) }
  }

  /// Returns the padding of a `ValidPadding` or a `SamePadding` field; without either there is no padding.
  func spatialPadding(valid: Int, same: Int, _ scope: LayerScope) throws -> SpatialPadding {
    switch try parameters.choice(among: [valid, same]) {
    case same:
      let mode = try parameters.message(same)?.integer(LayerSchema.SamePadding.asymmetryMode) ?? 0
      return .same(oddAtEnd: mode == LayerSchema.SamePadding.SamePaddingMode.bottomRightHeavy)
    case valid:
      guard let amounts = try parameters.message(valid)?.message(LayerSchema.ValidPadding.paddingAmounts) else {
        return .none
      }
      let borders = try amounts.borders(scope)
      return .explicit(before: borders.map(\.before), after: borders.map(\.after))
    default: return .none
    }
  }

  /// Returns the weights: those in the file, or the second input.
  fileprivate func filters(
    _ shape: Shape, channelAxis: Int = 0, groups: Int = 1, _ scope: LayerScope
  ) throws -> ValueID {
    guard inputs.count > 1 else {
      let weights = try weights(LayerSchema.ConvolutionLayerParams.weights, scope)
      return scope.emitter.constant(
        try weights.weight(shape, channelAxis: channelAxis, groups: groups), step: "weights")
    }
    return try parameter(1, shape, scope)
  }

  /// Returns the bias: the one in the file, or the third input; nil if the layer has none.
  fileprivate func bias(_ shape: Shape, _ scope: LayerScope) throws -> ValueID? {
    if inputs.count > 2 { return try parameter(2, shape, scope) }
    guard try parameters.flag(LayerSchema.ConvolutionLayerParams.hasBias) else { return nil }
    return try scope.constant(try weights(LayerSchema.ConvolutionLayerParams.bias, scope), shape, step: "bias")
  }

  /// Returns an input that replaces weights. Its shape may differ from theirs in axes of size 1.
  private func parameter(_ index: Int, _ shape: Shape, _ scope: LayerScope) throws -> ValueID {
    let given = try input(index, scope)
    guard given.shape.dimensions.filter({ $0 != 1 }) == shape.dimensions.filter({ $0 != 1 }) else {
      throw scope.emitter.invalid("'\(inputs[index])' is \(given.shape), expected \(shape)")
    }
    return try scope.view(given, shape)
  }

  /// Emits a transposed convolution. `[H, W]` grow to `(size - 1) · stride + dilation · (kernel - 1) + 1`, less the
  /// amounts that the padding removes.
  fileprivate func deconvolution(
    _ x: Blob, _ planes: ValueID, _ kernel: [Int], groups: Int, _ scope: LayerScope
  ) throws -> Blob {
    typealias Fields = LayerSchema.ConvolutionLayerParams
    let shape = scope.emitter.shape(planes)
    let outputs = try parameters.integer(Fields.outputChannels) ?? 0
    let strides = try pair(Fields.stride, default: 1, scope)
    let dilations = try pair(Fields.dilationFactor, default: 1, scope)
    guard (kernel + strides + dilations).allSatisfy({ (1..<(1 << 31)).contains($0) }),
      shape.dimensions.allSatisfy({ $0 < 1 << 31 })
    else {
      throw scope.emitter.invalid(
        "kernel \(kernel), strides \(strides) and dilations \(dilations): expected 1 to 2^31 - 1")
    }
    let wanted = try parameters.integers(Fields.outputShape)
    let padding = try spatialPadding(valid: Fields.valid, same: Fields.same, scope)
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
      guard (1..<(1 << 31)).contains(size) else { throw scope.emitter.invalid("a result of size \(size)") }
      let cut = max(0, full - size)
      (before[axis], after[axis]) = isOddAtEnd ? (cut / 2, cut - cut / 2) : (cut - cut / 2, cut / 2)
      extra[axis] = max(0, size - full)
    }
    let filters = try filters(Shape([shape[1], outputs / groups] + kernel), channelAxis: 1, groups: groups, scope)
    let bias = try bias([outputs, 1, 1], scope)
    let op = ConvolutionTranspose(
      window: Window(kernel: kernel, strides: strides, dilations: dilations, before: before, after: after),
      outputPadding: extra, groups: groups)
    let result = try scope.emitter.add(op, planes, filters, step: bias == nil ? nil : "unbiased")
    guard let bias else { return scope.fromPlanes(result, x) }
    return scope.fromPlanes(try scope.emitter.binary(.add, result, bias), x)
  }
}

extension LayerParameters {
  /// Returns the amounts of a `BorderAmounts` message, before and after rows and columns.
  func borders(_ scope: LayerScope) throws -> [(before: Int, after: Int)] {
    typealias Fields = LayerSchema.BorderAmounts
    let edges = try messages(Fields.borderAmounts)
    if edges.isEmpty { return [(0, 0), (0, 0)] }
    guard edges.count == 2 else { throw scope.emitter.invalid("\(edges.count) border amounts, expected 2") }
    return try edges.map { edge in
      let before = try edge.integer(Fields.EdgeSizes.startEdgeSize) ?? 0
      let after = try edge.integer(Fields.EdgeSizes.endEdgeSize) ?? 0
      guard (0..<(1 << 31)).contains(before), (0..<(1 << 31)).contains(after) else {
        throw scope.emitter.invalid("a border of \(before) and \(after)")
      }
      return (before, after)
    }
  }
}

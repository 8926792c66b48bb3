import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Layers on `[N, C, D, H, W]`.
  static let volumes: [LayerMapper] = [convolution3d, pooling3d, globalPooling3d]

  private static let convolution3d = LayerMapper(Layers.convolution3d) { c in
    typealias Fields = LayerSchema.Convolution3DLayerParams
    let x = try c.logical(0)
    let shape = c.emitter.shape(x)
    func sizes(_ fields: [Int]) throws -> [Int] { try fields.map { try c.integer($0, default: 1) } }
    let kernel = try sizes([Fields.kernelDepth, Fields.kernelHeight, Fields.kernelWidth])
    let strides = try sizes([Fields.strideDepth, Fields.strideHeight, Fields.strideWidth])
    let dilations = try sizes([Fields.dilationDepth, Fields.dilationHeight, Fields.dilationWidth])
    let groups = try c.integer(Fields.nGroups, default: 1)
    let outputs = try c.integer(Fields.outputChannels)
    guard shape.rank == 5, groups > 0, outputs > 0, outputs % groups == 0, shape[1] % groups == 0 else {
      throw c.emitter.invalid("\(shape) to \(outputs) channels in \(groups) groups")
    }
    let padding = try c.padding3d(try c.integer(Fields.paddingType), first: Fields.customPaddingFront)
    let hasBias = try c.flag(Fields.hasBias)
    let weights = try c.weights(Fields.weights)
    guard try c.flag(Fields.isDeconvolution) else {
      let filters = c.emitter.constant(
        try weights.weight(Shape([outputs, shape[1] / groups] + kernel)), step: "weights")
      let window = try c.window(kernel: kernel, strides: strides, dilations: dilations, padding: padding, over: x)
      var operands = [x, filters]
      if hasBias {
        operands.append(try c.constant(try c.weights(Fields.bias), [outputs], step: "bias"))
      }
      return c.ranked(
        try c.emitter.add(
          Convolution(window: window, groups: groups, epilogue: Epilogue(hasBias: hasBias)), operands))
    }
    let filters = c.emitter.constant(
      try weights.weight(Shape([shape[1], outputs / groups] + kernel), channelAxis: 1, groups: groups), step: "weights")
    var op = ConvolutionTranspose(
      window: Window(kernel: kernel, strides: strides, dilations: dilations), groups: groups)
    try c.cut(&op, padding, over: shape)
    let result = try c.emitter.add(op, x, filters, step: hasBias ? "unbiased" : nil)
    guard hasBias else { return c.ranked(result) }
    let bias = try c.constant(try c.weights(Fields.bias), [outputs, 1, 1, 1], step: "bias")
    return c.ranked(try c.emitter.binary(.add, result, bias))
  }

  private static let pooling3d = LayerMapper(Layers.pooling3d) { c in
    typealias Fields = LayerSchema.Pooling3DLayerParams
    let x = try c.logical(0)
    guard c.emitter.shape(x).rank == 5 else { throw c.emitter.invalid("expected 5 axes") }
    func sizes(_ fields: [Int]) throws -> [Int] { try fields.map { try c.integer($0, default: 1) } }
    let window = try c.window(
      kernel: try sizes([Fields.kernelDepth, Fields.kernelHeight, Fields.kernelWidth]),
      strides: try sizes([Fields.strideDepth, Fields.strideHeight, Fields.strideWidth]), dilations: [1, 1, 1],
      padding: try c.padding3d(try c.integer(Fields.paddingType), first: Fields.customPaddingFront),
      over: x)
    let excludes = try c.flag(Fields.countExcludePadding)
    let isMaximum = try c.integer(Fields.type) == Fields.PoolingType3D.max
    let function: Pool.Function = isMaximum ? .maximum : excludes ? .average : .averageIncludingPadding
    return c.ranked(try c.emitter.add(Pool(function, window: window), x))
  }

  private static let globalPooling3d = LayerMapper(Layers.globalPooling3d) { c in
    typealias Fields = LayerSchema.GlobalPooling3DLayerParams
    let x = try c.logical(0)
    let isMaximum = try c.integer(Fields.type) == Fields.GlobalPoolingType3D.max
    let axes = try c.emitter.axes([-3, -2, -1], of: x)
    return c.ranked(try c.emitter.add(Reduce(isMaximum ? .maximum : .mean, axes: axes, keepsDimensions: true), x))
  }
}

extension LayerContext {
  /// Sets the amounts that a transposed convolution removes, or adds at its end, to give the size that the layer names.
  /// With padding that keeps sizes it is `size · stride`. An odd element is removed from the end.
  fileprivate func cut(_ op: inout ConvolutionTranspose, _ padding: SpatialPadding, over shape: Shape) throws {
    var window = op.window
    let sizes = Array(shape.dimensions.dropFirst(2))
    guard (window.kernel + window.strides + window.dilations).allSatisfy({ (1..<(1 << 31)).contains($0) }),
      sizes.allSatisfy({ $0 < 1 << 31 })
    else {
      throw emitter.invalid(
        "kernel \(window.kernel), strides \(window.strides) and dilations \(window.dilations): expected 1 to 2^31 - 1")
    }
    var wanted = try integers(LayerSchema.Convolution3DLayerParams.outputShape)
    if case .explicit(let before, let after) = padding { (window.before, window.after) = (before, after) }
    if case .same = padding, wanted.isEmpty { wanted = zip(sizes, window.strides).map(*) }
    guard [0, 3].contains(wanted.count), wanted.allSatisfy({ (1..<(1 << 31)).contains($0) }),
      (window.before + window.after).allSatisfy({ (0..<(1 << 31)).contains($0) })
    else { throw emitter.invalid("a result of \(wanted), with \(window.before) and \(window.after) cut away") }
    for (axis, size) in wanted.enumerated() {
      let full = (sizes[axis] - 1) * window.strides[axis] + window.dilations[axis] * (window.kernel[axis] - 1) + 1
      let surplus = full - window.before[axis] - window.after[axis] - size
      op.outputPadding[axis] = max(0, -surplus)
      window.before[axis] += max(0, surplus) / 2
      window.after[axis] += max(0, surplus) - max(0, surplus) / 2
    }
    op.window = window
  }

  /// Returns the padding: custom, none, or the amount that keeps sizes. Custom amounts are six fields in a row: front,
  /// back, top, bottom, left and right.
  fileprivate func padding3d(_ type: Int, first: Int) throws -> SpatialPadding {
    typealias Padding = LayerSchema.Convolution3DLayerParams.PaddingType
    switch type {
    case Padding.same: return .same(oddAtEnd: true)
    case Padding.custom:
      let amounts = try (0..<6).map { try parameters.integer(first + $0) ?? 0 }
      return .explicit(before: [amounts[0], amounts[2], amounts[4]], after: [amounts[1], amounts[3], amounts[5]])
    default: return .explicit(before: [0, 0, 0], after: [0, 0, 0])
    }
  }
}

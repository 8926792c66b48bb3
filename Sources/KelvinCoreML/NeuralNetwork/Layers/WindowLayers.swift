import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Convolutions and pooling over planes, and over `[N, C, D, H, W]`.
  static let windows: [LayerMapper] = [convolution, pooling, convolution3d, pooling3d, globalPooling3d]

  private static let convolution = LayerMapper(Layers.convolution) { c in
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
    let window = try c.emitter.window(
      kernel: kernel, strides: try c.pair(Fields.stride, default: 1),
      dilations: try c.pair(Fields.dilationFactor, default: 1),
      padding: try c.spatialPadding(valid: Fields.valid, same: Fields.same), over: planes)
    var inputs = [planes, filters]
    if let bias = try c.bias([outputs]) { inputs.append(bias) }
    let op = Convolution(window: window, groups: groups, epilogue: Epilogue(hasBias: inputs.count == 3))
    return c.fromPlanes(try c.emitter.add(op, inputs), x)
  }

  private static let pooling = LayerMapper(Layers.pooling) { c in
    typealias Fields = LayerSchema.PoolingLayerParams
    let x = try c.input(0)
    let planes = try c.planes(x)
    let type = try c.integer(Fields.type)
    if try c.flag(Fields.globalPooling) {
      let function: Reduce.Function? =
        switch type {
        case Fields.PoolingType.max: .maximum
        case Fields.PoolingType.average: .mean
        case Fields.PoolingType.l2: .l2
        default: nil
        }
      guard let function else { throw c.emitter.invalid("pooling type \(type) is not known") }
      let op = Reduce(function, axes: [2, 3], keepsDimensions: true)
      return c.fromPlanes(try c.emitter.add(op, planes), x)
    }
    let window = try c.poolingWindow(planes)
    switch type {
    case Fields.PoolingType.max:
      return c.fromPlanes(try c.emitter.add(Pool(.maximum, window: window), planes), x)
    case Fields.PoolingType.average:
      let excludes = try c.flag(Fields.avgPoolExcludePadding)
      let op = Pool(excludes ? .average : .averageIncludingPadding, window: window)
      return c.fromPlanes(try c.emitter.add(op, planes), x)
    case Fields.PoolingType.l2:
      return c.fromPlanes(try c.rootOfSquares(planes, window), x)
    default: throw c.emitter.invalid("pooling type \(type) is not known")
    }
  }

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
      let window = try c.emitter.window(
        kernel: kernel, strides: strides, dilations: dilations, padding: padding, over: x)
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
    let window = try c.emitter.window(
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
    var (size, oddAtEnd): ([Int]?, Bool) = (wanted.count == 2 ? wanted : nil, true)
    if size == nil, case .same(let isAtEnd) = padding {
      (size, oddAtEnd) = ([shape[2] * strides[0], shape[3] * strides[1]], isAtEnd)
    }
    if let wrong = size?.first(where: { !(1..<(1 << 31)).contains($0) }) {
      throw emitter.invalid("a result of size \(wrong)")
    }
    var (before, after) = ([0, 0], [0, 0])
    if size == nil, case .explicit(let first, let last) = padding { (before, after) = (first, last) }
    let filters = try filters(Shape([shape[1], outputs / groups] + kernel), channelAxis: 1, groups: groups)
    let bias = try bias([outputs, 1, 1])
    var op = ConvolutionTranspose(
      window: Window(kernel: kernel, strides: strides, dilations: dilations, before: before, after: after),
      outputPadding: [0, 0], groups: groups)
    if let size {
      op.fit(size, over: [shape[2], shape[3]]) { cut in
        oddAtEnd ? (cut / 2, cut - cut / 2) : (cut - cut / 2, cut / 2)
      }
    }
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

extension LayerContext {
  fileprivate func poolingWindow(_ planes: ValueID) throws -> Window {
    typealias Fields = LayerSchema.PoolingLayerParams
    let padding: SpatialPadding
    let roundsUp =
      try choice(among: [Fields.valid, Fields.same, Fields.includeLastPixel])
      == Fields.includeLastPixel
    if roundsUp {
      let amounts = try message(Fields.includeLastPixel)?.integers(Fields.ValidCompletePadding.paddingAmounts) ?? []
      guard amounts.isEmpty || amounts.count == 2 else { throw emitter.invalid("padding \(amounts)") }
      padding = amounts.isEmpty ? .none : .explicit(before: amounts, after: amounts)
    } else {
      padding = try spatialPadding(valid: Fields.valid, same: Fields.same)
    }
    return try emitter.window(
      kernel: try pair(Fields.kernelSize, default: 3), strides: try pair(Fields.stride, default: 1),
      dilations: [1, 1], padding: padding, roundsUp: roundsUp, over: planes)
  }

  /// Returns `sqrt(Σx²)` over each window. Padding, and positions of a last window beyond it, count as zeros.
  fileprivate func rootOfSquares(_ planes: ValueID, _ window: Window) throws -> ValueID {
    let shape = emitter.shape(planes)
    var exact = window
    exact.roundsUp = false
    do {
      for (axis, size) in try window.outputSizes(Array(shape.dimensions.dropFirst(2))).enumerated() {
        let needed = (size - 1) * window.strides[axis] + window.kernel[axis]
        exact.after[axis] = max(0, needed - shape[2 + axis] - window.before[axis])
      }
    } catch { throw emitter.invalid(error.description) }
    return try emitter.lengthPool(planes, exact, order: 2)
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

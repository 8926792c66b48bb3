import KelvinGraph
import KelvinImport

/// Convolutions and products of the domain `com.microsoft`, with the operators that ONNX Runtime's optimizer fuses into
/// them: `ContribOperators.md`.
extension ONNXMapper {
  static let microsoftProducts: [ONNXMapper] = [
    fusedConv, nhwcConv, nhwcFusedConv, fusedGemm, fusedMatMul("FusedMatMul"), fusedMatMul("TransposeMatMul"),
    fusedMatMulActivation, matMulInteger16,
  ]

  /// `activation(conv(x, w) + b + z)`.
  private static let fusedConv = ONNXMapper("com.microsoft.FusedConv") { c in
    let function = try c.fusedFunction()
    let added = c.optional(3)
    let product = try c.convolve(
      try c.input(0), try c.input(1), step: function == nil && added == nil ? nil : "product")
    return [try c.finished(product, adding: added, function)]
  }

  /// A convolution of images with their channels last. ONNX Runtime's documentation has the filters' channels first,
  /// its shape inference last.
  private static let nhwcConv = ONNXMapper("com.microsoft.NhwcConv") { c in
    let (x, weights) = (try c.input(0), try c.input(1))
    let (source, filters) = (c.emitter.shape(x), c.emitter.shape(weights))
    let groups = try c.groups()
    guard source.rank >= 3, filters.rank == source.rank, let channels = source.dimensions.last, channels % groups == 0
    else { throw c.emitter.invalid("\(c.emitter.type(weights)) are not filters for \(c.emitter.type(x))") }
    let (kernel, depth) = (c.integers("kernel_shape"), channels / groups)
    func fits(_ channels: Int?, _ window: ArraySlice<Int>) -> Bool {
      channels == depth && (kernel.map { $0 == Array(window) } ?? true)
    }
    let isFirst = fits(filters[1], filters.dimensions[2...])
    let isLast = fits(filters.dimensions.last, filters.dimensions[1..<(filters.rank - 1)])
    guard isFirst || isLast else {
      throw c.emitter.invalid("\(c.emitter.type(weights)) are not filters for \(c.emitter.type(x))")
    }
    guard isFirst != isLast || filters.dimensions.dropFirst().allSatisfy({ $0 == 1 }) else {
      throw c.unsupported("the channel axis of \(c.emitter.type(weights)) does not follow from the sizes")
    }
    let own =
      isFirst
      ? weights
      : try c.emitter.transpose(
        weights, [0, filters.rank - 1] + Array(1..<(filters.rank - 1)), step: "filters_channels_first")
    return [try c.channelsLast(x, own, adding: nil, nil)]
  }

  private static let nhwcFusedConv = ONNXMapper("com.microsoft.NhwcFusedConv") { c in
    let x = try c.input(0)
    guard c.emitter.shape(x).rank >= 3 else { throw c.emitter.invalid("no images: \(c.emitter.type(x))") }
    return [try c.channelsLast(x, try c.input(1), adding: c.optional(3), try c.fusedFunction())]
  }

  private static let fusedGemm = ONNXMapper("com.microsoft.FusedGemm") { c in
    let function = try c.fusedFunction()
    return [try c.finished(c.gemm(step: function == nil ? nil : "product"), adding: nil, function)]
  }

  private static func fusedMatMul(_ name: String) -> ONNXMapper {
    ONNXMapper("com.microsoft.\(name)") { c in [try c.fusedProduct()] }
  }

  private static let fusedMatMulActivation = ONNXMapper("com.microsoft.FusedMatMulActivation") { c in
    let function = try c.fusedFunction()
    return [try c.finished(c.fusedProduct(step: function == nil ? nil : "product"), adding: nil, function)]
  }

  /// Exact products of 16-bit integers with 32-bit sums.
  private static let matMulInteger16 = ONNXMapper("com.microsoft.MatMulInteger16") { c in
    let operands = [try c.input(0), try c.input(1)]
    for operand in operands where ![.int16, .uint16].contains(c.emitter.scalar(operand)) {
      throw c.emitter.invalid("expected 16-bit integers, got \(c.emitter.type(operand))")
    }
    let isUnsigned = operands.allSatisfy { c.emitter.scalar($0) == .uint16 }
    let wide = try operands.enumerated().map {
      try c.emitter.cast($1, to: isUnsigned ? .uint32 : .int32, step: "operand_\($0)")
    }
    return [try c.emitter.matmul(wide[0], wide[1])]
  }
}

extension ONNXOperation {
  fileprivate func groups() throws -> Int {
    let groups = integer("group", default: 1)
    guard groups > 0 else { throw emitter.invalid("\(groups) groups") }
    return groups
  }

  /// Returns the fused activation by its name, or nil without one.
  fileprivate func fusedFunction() throws -> UnaryFunction? {
    let name = text("activation", default: "")
    let listed = node.attributes["activation_params"]?.floats ?? []
    let named = ["activation_alpha", "activation_beta", "activation_gamma"].map { node.attributes[$0]?.float }
    func parameter(_ index: Int, _ standard: Float) -> Float {
      index < listed.count ? listed[index] : named[index] ?? standard
    }
    switch name {
    case "": return nil
    case "Relu": return .relu
    case "Sigmoid": return .sigmoid
    case "Tanh": return UnaryFunction(.tanh)
    case "Softplus": return UnaryFunction(.softplus)
    case "Softsign": return UnaryFunction(.softsign)
    case "LeakyRelu": return UnaryFunction(.leakyRelu, a: parameter(0, 0.01))
    case "Elu": return UnaryFunction(.elu, a: parameter(0, 1))
    case "Selu": return UnaryFunction(.selu, a: parameter(0, 1.6732632), b: named[2] ?? parameter(1, 1.050701))
    case "HardSigmoid": return UnaryFunction(.hardSigmoid, a: parameter(0, 0.2), b: parameter(1, 0.5))
    case "Clip": return .clip(parameter(0, -.infinity), parameter(1, .infinity))
    default: throw unsupported("the fused activation '\(name)' is not known")
    }
  }

  /// `function(product + added)`.
  fileprivate func finished(
    _ product: ValueID, adding added: ValueID?, _ function: UnaryFunction?, step: String? = nil
  ) throws -> ValueID {
    var result = product
    if let added {
      guard emitter.shape(added) == emitter.shape(product) else {
        throw emitter.invalid("\(emitter.type(added)) cannot be added to \(emitter.type(product))")
      }
      result = try emitter.binary(.add, result, added, step: function == nil ? step : "sum")
    }
    return try function.map { try emitter.unary($0, result, step: step) } ?? result
  }

  /// Returns the convolution of `[N, spatial…, C]`; the addend has the same layout.
  fileprivate func channelsLast(
    _ x: ValueID, _ weights: ValueID, adding added: ValueID?, _ function: UnaryFunction?
  ) throws -> ValueID {
    let rank = emitter.shape(x).rank
    let (first, last) = ([0, rank - 1] + Array(1..<(rank - 1)), [0] + Array(2..<rank) + [1])
    let images = try emitter.transpose(x, first, step: "channels_first")
    let product = try convolve(images, weights, step: "product")
    let result = try emitter.transpose(product, last, step: function == nil && added == nil ? nil : "channels_last")
    return try finished(result, adding: added, function)
  }

  /// Returns `α · A · B`. With `transBatch…` the rows of an operand are its first axis, before the batch axes. With
  /// `trans…` its last two axes are swapped afterwards.
  fileprivate func fusedProduct(step: String? = nil) throws -> ValueID {
    func operand(_ index: Int, _ name: String) throws -> ValueID {
      let x = try input(index)
      let rank = emitter.shape(x).rank
      guard flag("transBatch\(name)"), rank > 2 else { return x }
      return try emitter.transpose(x, Array(1..<(rank - 1)) + [0, rank - 1], step: "batches_first_\(name)")
    }
    let (a, b, alpha) = (try operand(0, "A"), try operand(1, "B"), float("alpha", default: 1))
    let product = try emitter.matmul(
      a, b, transposesX: flag("transA"), transposesY: flag("transB"), step: alpha == 1 ? step : "plain_product")
    return alpha == 1 ? product : try emitter.unary(UnaryFunction(.affine, a: alpha), product, step: step)
  }
}

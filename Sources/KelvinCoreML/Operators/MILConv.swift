import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Convolutions and pools.
  static let convolutions: [MILMapper] = [conv, convQuantized, convTranspose, avgPool, l2Pool, maxPool]

  private static let conv = MILMapper("conv") { c in
    try c.convolution(try c.x, try c.value("weight"), try c.optional("bias"))
  }

  /// A convolution with weights `scale · w + bias`, where `w` are unsigned integers. Scale and bias are one number, or
  /// one for each output channel.
  private static let convQuantized = MILMapper("conv_quantized") { c in
    let emitter = c.emitter
    let x = try c.x
    let scalar = emitter.scalar(x)
    let type = try c.text("quantization_type")?.lowercased() ?? ""
    guard type == "linear" else {
      throw emitter.invalid(
        "quantization_type '\(type)' is not supported, for which it has no table; expected 'linear'")
    }
    var weights = try emitter.cast(c.value("weight"), to: scalar, step: "numbers")
    let sizes = emitter.shape(weights)
    for (name, function) in [("quant_scale", Binary.Function.multiply), ("quant_bias", .add)] {
      let numbers = try emitter.cast(c.value(name), to: scalar, step: "\(name)/numbers")
      let count = emitter.shape(numbers).count
      guard count == 1 || count == sizes.dimensions.first else {
        throw emitter.invalid("\(name) is \(emitter.type(numbers)) for weights of \(sizes)")
      }
      let column = Shape([count] + [Int](repeating: 1, count: max(sizes.rank - 1, 0)))
      weights = try emitter.binary(
        function, weights, emitter.reshape(numbers, column, step: "\(name)/column"), step: "\(name)/applied")
    }
    let bias = try c.optional("bias").map { try emitter.cast($0, to: scalar, step: "bias") }
    return try c.convolution(x, weights, bias)
  }

  private static let convTranspose = MILMapper("conv_transpose") { c in
    let (x, weights) = (try c.x, try c.value("weight"))
    let kernel = Array(c.emitter.shape(weights).dimensions.dropFirst(2))
    let op = try c.transposedConvolution(kernel, over: x)
    guard let bias = try c.optional("bias") else { return try c.emitter.add(op, x, weights) }
    let product = try c.emitter.add(op, x, weights, step: "product")
    let column = try c.emitter.channels(bias, of: product, step: "bias")
    return try c.emitter.binary(.add, product, column)
  }

  private static let maxPool = MILMapper("max_pool") { c in try c.pool(.maximum) }

  private static let avgPool = MILMapper("avg_pool") { c in
    let excludes = try c.flag("exclude_padding_from_average")
    return try c.pool(excludes ? .average : .averageIncludingPadding)
  }

  private static let l2Pool = MILMapper("l2_pool") { c in
    let x = try c.x
    let kernel = try c.required("kernel_sizes", c.integers)
    let roundsUp = try c.flag("ceil_mode")
    let window = try c.window(kernel: kernel, over: x, roundsUp: roundsUp)
    return try c.emitter.lengthPool(x, window, order: 2)
  }
}

extension MILContext {
  fileprivate func convolution(_ x: ValueID, _ weights: ValueID, _ bias: ValueID?) throws -> ValueID {
    let kernel = Array(emitter.shape(weights).dimensions.dropFirst(2))
    let window = try window(kernel: kernel, over: x)
    let op = Convolution(window: window, groups: try integer("groups") ?? 1, epilogue: Epilogue(hasBias: bias != nil))
    return try emitter.add(op, [x, weights] + (bias.map { [$0] } ?? []))
  }

  /// Returns the window of a convolution or pool: `strides`, `dilations`, `pad_type`, `pad` (before and after, axis by
  /// axis).
  func window(kernel: [Int], over x: ValueID, roundsUp: Bool = false) throws -> Window {
    let padding: SpatialPadding
    switch try text("pad_type")?.lowercased() ?? "valid" {
    case "valid": padding = .none
    case "same": padding = .same(oddAtEnd: true)
    case "same_lower": padding = .same(oddAtEnd: false)
    case "custom":
      let pads = try integers("pad") ?? [Int](repeating: 0, count: 2 * kernel.count)
      guard pads.count == 2 * kernel.count else {
        throw emitter.invalid("\(pads.count) pads for \(kernel.count) spatial axes, expected \(2 * kernel.count)")
      }
      padding = .explicit(
        before: kernel.indices.map { pads[2 * $0] }, after: kernel.indices.map { pads[2 * $0 + 1] })
    case let other: throw emitter.invalid("pad_type '\(other)' is not known")
    }
    return try emitter.window(
      kernel: kernel, strides: try integers("strides"), dilations: try integers("dilations"), padding: padding,
      roundsUp: roundsUp, over: x)
  }

  /// Returns the operator of a transposed convolution. With `same` padding the result has size `size · stride`; with
  /// `output_shape`, that size.
  fileprivate func transposedConvolution(_ kernel: [Int], over x: ValueID) throws -> ConvolutionTranspose {
    let ones = [Int](repeating: 1, count: kernel.count)
    let sizes = Array(emitter.shape(x).dimensions.dropFirst(2))
    let strides = try integers("strides") ?? ones
    let dilations = try integers("dilations") ?? ones
    guard [strides, dilations, sizes].allSatisfy({ $0.count == kernel.count }),
      (strides + dilations + sizes + kernel).allSatisfy({ 0...0xFFFF_FFFF ~= $0 })
    else { throw emitter.invalid("kernel, strides and dilations do not fit \(emitter.type(x))") }
    let type = try text("pad_type")?.lowercased() ?? "valid"
    var (before, after) = (ones.map { _ in 0 }, ones.map { _ in 0 })
    var wanted = try integers("output_shape").map { Array($0.suffix(kernel.count)) }
    switch type {
    case "valid": break
    case "same", "same_lower":
      if wanted == nil { wanted = zip(sizes, strides).map { $0 &* $1 } }
    case "custom":
      let pads = try integers("pad") ?? [Int](repeating: 0, count: 2 * kernel.count)
      guard pads.count == 2 * kernel.count, pads.allSatisfy({ 0...0xFFFF_FFFF ~= $0 }) else {
        throw emitter.invalid("pads \(pads) for \(kernel.count) spatial axes")
      }
      (before, after) = (kernel.indices.map { pads[2 * $0] }, kernel.indices.map { pads[2 * $0 + 1] })
    case let other: throw emitter.invalid("pad_type '\(other)' is not known")
    }
    if let wanted, wanted.count != kernel.count || !wanted.allSatisfy({ (1..<(1 << 31)).contains($0) }) {
      throw emitter.invalid("output_shape \(wanted)")
    }
    var op = ConvolutionTranspose(
      window: Window(kernel: kernel, strides: strides, dilations: dilations, before: before, after: after),
      outputPadding: ones.map { _ in 0 }, groups: try integer("groups") ?? 1)
    guard let wanted else { return op }
    op.fit(wanted, over: sizes) { surplus in
      switch type {
      case "same_lower": (surplus - surplus / 2, surplus / 2)
      case "same": (surplus / 2, surplus - surplus / 2)
      default: (0, surplus)
      }
    }
    return op
  }

  fileprivate func pool(_ function: Pool.Function) throws -> ValueID {
    let x = try x
    let kernel = try required("kernel_sizes", integers)
    let window = try window(kernel: kernel, over: x, roundsUp: try flag("ceil_mode"))
    return try emitter.add(Pool(function, window: window), x)
  }
}

import KelvinGraph
import KelvinImport

extension MILMapper {
  static let conv = MILMapper("conv") { operation, scope in
    try operation.convolution(
      try operation.value("x", scope), try operation.value("weight", scope), try operation.optional("bias", scope),
      scope)
  }

  /// A convolution with weights `scale · w + bias`, where `w` are unsigned integers. Scale and bias are one number, or
  /// one for each output channel.
  static let convQuantized = MILMapper("conv_quantized") { operation, scope in
    let emitter = scope.emitter
    let x = try operation.value("x", scope)
    let scalar = emitter.scalar(x)
    let type = try operation.text("quantization_type", scope)?.lowercased() ?? ""
    guard type == "linear" else {
      throw emitter.invalid(
        "quantization_type '\(type)' is not supported, for which it has no table; expected 'linear'")
    }
    var weights = try emitter.cast(operation.value("weight", scope), to: scalar, step: "numbers")
    let sizes = emitter.shape(weights)
    for (name, function) in [("quant_scale", Binary.Function.multiply), ("quant_bias", .add)] {
      let numbers = try emitter.cast(operation.value(name, scope), to: scalar, step: "\(name)/numbers")
      let count = emitter.shape(numbers).count
      guard count == 1 || count == sizes.dimensions.first else {
        throw emitter.invalid("\(name) is \(emitter.type(numbers)) for weights of \(sizes)")
      }
      let column = Shape([count] + [Int](repeating: 1, count: max(sizes.rank - 1, 0)))
      weights = try emitter.binary(
        function, weights, emitter.reshape(numbers, column, step: "\(name)/column"), step: "\(name)/applied")
    }
    let bias = try operation.optional("bias", scope).map { try emitter.cast($0, to: scalar, step: "bias") }
    return try operation.convolution(x, weights, bias, scope)
  }
}

extension MILOperation {
  fileprivate func convolution(
    _ x: ValueID, _ weights: ValueID, _ bias: ValueID?, _ scope: MILScope
  ) throws -> ValueID {
    let kernel = Array(scope.emitter.shape(weights).dimensions.dropFirst(2))
    let window = try window(kernel: kernel, over: x, scope)
    let op = Convolution(
      window: window, groups: try integer("groups", scope) ?? 1, epilogue: Epilogue(hasBias: bias != nil))
    return try scope.emitter.add(op, [x, weights] + (bias.map { [$0] } ?? []))
  }

  /// Returns the window of a convolution or pool: `strides`, `dilations`, `pad_type`, `pad` (before and after, axis by
  /// axis).
  func window(kernel: [Int], over x: ValueID, roundsUp: Bool = false, _ scope: MILScope) throws -> Window {
    let padding: SpatialPadding
    switch try text("pad_type", scope)?.lowercased() ?? "valid" {
    case "valid": padding = .none
    case "same": padding = .same(oddAtEnd: true)
    case "same_lower": padding = .same(oddAtEnd: false)
    case "custom":
      let pads = try integers("pad", scope) ?? [Int](repeating: 0, count: 2 * kernel.count)
      guard pads.count == 2 * kernel.count else {
        throw scope.emitter.invalid("\(pads.count) pads for \(kernel.count) spatial axes, expected \(2 * kernel.count)")
      }
      padding = .explicit(
        before: kernel.indices.map { pads[2 * $0] }, after: kernel.indices.map { pads[2 * $0 + 1] })
    case let other: throw scope.emitter.invalid("pad_type '\(other)' is not known")
    }
    let sizes = Array(scope.emitter.shape(x).dimensions.dropFirst(2))
    do {
      return try Window(
        kernel: kernel, strides: try integers("strides", scope), dilations: try integers("dilations", scope),
        padding: padding, roundsUp: roundsUp, over: sizes)
    } catch let error as OperatorError { throw scope.emitter.invalid(error.description) }
  }
}

import KelvinGraph
import KelvinImport

/// Operators of the domain `com.microsoft` that ONNX Runtime's quantizer writes. Each maps to the float operator
/// between dequantization and quantization; passes derive the integer operator.
extension ONNXMapper {
  static let microsoftQuantization: [ONNXMapper] = [
    standard("QuantizeLinear"), standard("DequantizeLinear"), sum("QLinearAdd", .add), sum("QLinearMul", .multiply),
    qLinearGlobalAveragePool, qLinearAveragePool, qGemm, qLinearConcat, qLinearSigmoid, qLinearLeakyRelu, qLinearConv,
    qLinearSoftmax, qLinearReduceMean, qLinearWhere, qEmbedLayerNormalization, dynamicMatMul, matMulToFloat,
    dynamicQuantizeLSTM,
  ]

  /// Returns a mapper for an operator that equals the one of the standard domain.
  private static func standard(_ name: String) -> ONNXMapper {
    ONNXMapper("com.microsoft.\(name)") { c in
      guard let mapper = quantization.first(where: { $0.name == name }) else { throw c.unsupported("it is not mapped") }
      return try mapper.map(c)
    }
  }

  private static func sum(_ name: String, _ function: Binary.Function) -> ONNXMapper {
    ONNXMapper("com.microsoft.\(name)") { c in
      let a = try c.dequantize(try c.input(0), try c.input(1), c.optional(2), step: "a")
      let b = try c.dequantize(try c.input(3), try c.input(4), c.optional(5), step: "b")
      let result = try c.emitter.binary(function, a, b, step: "result")
      return [try c.quantize(result, try c.input(6), c.optional(7), c.emitter.scalar(try c.input(0)))]
    }
  }

  private static let qLinearConv = ONNXMapper("com.microsoft.QLinearConv") { c in
    let x = try c.input(0)
    guard c.flag("channels_last") else { return [try c.quantizedConvolution(of: x)] }
    let rank = c.emitter.shape(x).rank
    guard rank >= 3 else { throw c.emitter.invalid("no images: \(c.emitter.type(x))") }
    let images = try c.emitter.transpose(x, [0, rank - 1] + Array(1..<(rank - 1)), step: "channels_first")
    let result = try c.quantizedConvolution(of: images, step: "result")
    return [try c.emitter.transpose(result, [0] + Array(2..<rank) + [1])]
  }

  /// Returns a mapper for an operator on one tensor, of which `result` computes the values.
  private static func one(
    _ name: String, _ result: @escaping @Sendable (ONNXOperation, ValueID) throws -> ValueID
  ) -> ONNXMapper {
    ONNXMapper("com.microsoft.\(name)") { c in
      let x = try c.dequantize(try c.input(0), try c.input(1), c.optional(2), step: "x")
      return [try c.quantize(result(c, x), try c.input(3), c.optional(4), c.emitter.scalar(try c.input(0)))]
    }
  }

  private static let qLinearSigmoid = one("QLinearSigmoid") { c, x in try c.emitter.unary(.sigmoid, x, step: "result") }

  private static let qLinearLeakyRelu = one("QLinearLeakyRelu") { c, x in
    try c.emitter.unary(UnaryFunction(.leakyRelu, a: c.float("alpha", default: 0.01)), x, step: "result")
  }

  private static let qLinearGlobalAveragePool = one("QLinearGlobalAveragePool") { c, x in
    let rank = c.emitter.shape(x).rank
    guard rank >= 3 else { throw c.emitter.invalid("expected images with channels, got \(c.emitter.type(x))") }
    let axes = c.flag("channels_last") ? Array(1..<(rank - 1)) : Array(2..<rank)
    return try c.emitter.add(Reduce(.mean, axes: axes, keepsDimensions: true), x, step: "mean")
  }

  /// Softmax along one axis, or before operator set 13 along all axes from the given one on.
  private static let qLinearSoftmax = one("QLinearSoftmax") { c, x in
    let (sizes, axis) = (c.emitter.shape(x), try c.emitter.axis(c.integer("axis", default: -1), of: x))
    if c.integer("opset", default: 13) >= 13 || axis == sizes.rank - 1 {
      return try c.emitter.add(Softmax(axis: axis), x, step: "shares")
    }
    let rows: Shape = [sizes.dimensions[..<axis].reduce(1, *), sizes.dimensions[axis...].reduce(1, *)]
    let shares = try c.emitter.add(Softmax(axis: 1), c.emitter.reshape(x, rows, step: "rows"), step: "row_shares")
    return try c.emitter.reshape(shares, sizes, step: "shares")
  }

  private static let qLinearReduceMean = one("QLinearReduceMean") { c, x in
    let given = c.integers("axes") ?? []
    let axes = given.isEmpty ? Array(0..<c.emitter.shape(x).rank) : try c.emitter.axes(given, of: x)
    let op = Reduce(.mean, axes: axes, keepsDimensions: c.flag("keepdims", default: true))
    return try c.emitter.add(op, x, step: "mean")
  }

  private static let qLinearAveragePool = ONNXMapper("com.microsoft.QLinearAveragePool") { c in
    guard let kernel = c.integers("kernel_shape") else { throw c.emitter.invalid("kernel_shape is missing") }
    var x = try c.dequantize(try c.input(0), try c.input(1), c.optional(2), step: "x")
    let (rank, isLast) = (c.emitter.shape(x).rank, c.flag("channels_last"))
    guard rank >= 3 else { throw c.emitter.invalid("expected images with channels, got \(c.emitter.type(x))") }
    if isLast { x = try c.emitter.transpose(x, [0, rank - 1] + Array(1..<(rank - 1)), step: "channels_first") }
    let window = try c.window(kernel: kernel, over: x, roundsUp: c.flag("ceil_mode"))
    let function: Pool.Function = c.flag("count_include_pad") ? .averageIncludingPadding : .average
    var mean = try c.emitter.add(Pool(function, window: window), x, step: "mean")
    if isLast { mean = try c.emitter.transpose(mean, [0] + Array(2..<rank) + [1], step: "channels_last") }
    return [try c.quantize(mean, try c.input(3), c.optional(4), c.emitter.scalar(try c.input(0)))]
  }

  /// `α · A' · B' + C` with C in int32 at the scale of the products. If the result has no scale, it is a float.
  private static let qGemm = ONNXMapper("com.microsoft.QGemm") { c in
    let alpha = c.float("alpha", default: 1)
    let (transposesB, axis) = (c.flag("transB"), c.flag("transB") ? 0 : 1)
    var a = try c.dequantize(try c.input(0), try c.input(1), c.optional(2), step: "a")
    var b = try c.dequantize(try c.input(3), try c.input(4), c.optional(5), axis: axis, step: "b")
    guard c.emitter.shape(a).rank == 2, c.emitter.shape(b).rank == 2 else {
      throw c.emitter.invalid("expected two matrices, got \(c.emitter.type(a)) and \(c.emitter.type(b))")
    }
    if c.flag("transA") { a = try c.emitter.transpose(a, [1, 0], step: "transposed_a") }
    if !transposesB { b = try c.emitter.transpose(b, [1, 0], step: "transposed_b") }
    let isQuantized = c.optional(7) != nil
    let isLast = !isQuantized && alpha == 1
    var result = try c.emitter.add(Linear(), a, b, step: isLast && c.optional(6) == nil ? nil : "product")
    if let addend = c.optional(6) {
      let scale = try c.emitter.binary(.multiply, try c.input(1), try c.input(4), step: "addend_scale")
      let real = try c.dequantize(
        addend, scale, nil, axis: c.emitter.shape(addend).rank - 1, step: "addend")
      result = try c.emitter.binary(.add, result, real, step: isLast ? nil : "sum")
    }
    if alpha != 1 {
      result = try c.emitter.unary(UnaryFunction(.affine, a: alpha), result, step: isQuantized ? "scaled" : nil)
    }
    guard isQuantized else { return [result] }
    let scalar = c.emitter.scalar(try c.optional(8) ?? c.input(0))
    return [try c.quantize(result, try c.input(7), c.optional(8), scalar)]
  }

  /// Concatenates. The inputs are scale and zero point of the result, then the operands, each with its own.
  private static let qLinearConcat = ONNXMapper("com.microsoft.QLinearConcat") { c in
    guard c.inputs.count >= 5, c.inputs.count % 3 == 2 else {
      throw c.emitter.invalid("\(c.inputs.count) inputs are not a scale, a zero point and triples")
    }
    guard let axis = c.node.attributes["axis"]?.integer else { throw c.emitter.invalid("has no axis") }
    var parts: [ValueID] = []
    for first in stride(from: 2, to: c.inputs.count, by: 3) {
      parts.append(
        try c.dequantize(
          try c.input(first), try c.input(first + 1), c.optional(first + 2), step: "part\(parts.count)"))
    }
    let joined = try c.emitter.concat(parts, axis: axis, step: "joined")
    return [try c.quantize(joined, try c.input(0), c.optional(1), c.emitter.scalar(try c.input(2)))]
  }

  /// A matrix product in which A is quantized like in `DynamicQuantizeLinear`.
  private static let dynamicMatMul = ONNXMapper("com.microsoft.DynamicQuantizeMatMul") { c in
    let dynamic = try c.dynamicParameters(of: try c.input(0))
    let a = try c.emitter.add(Quantize(scalar: .uint8), [try c.input(0), dynamic.scale, dynamic.zero], step: "a")
    let b = try c.input(1)
    let zero = c.zero(c.optional(3), like: b, step: "b_zero")
    return [try c.scaledProduct(a, b, dynamic.zero, zero, dynamic.scale, try c.input(2), bias: c.optional(4))]
  }

  private static let matMulToFloat = ONNXMapper("com.microsoft.MatMulIntegerToFloat") { c in
    let (a, b) = (try c.input(0), try c.input(1))
    let aZero = c.zero(c.optional(4), like: a, step: "a_zero")
    let bZero = c.zero(c.optional(5), like: b, step: "b_zero")
    return [try c.scaledProduct(a, b, aZero, bZero, try c.input(2), try c.input(3), bias: c.optional(6))]
  }

  private static let qLinearWhere = ONNXMapper("com.microsoft.QLinearWhere") { c in
    let condition = try c.emitter.cast(try c.input(0), to: .bool, step: "condition")
    let x = try c.dequantize(try c.input(1), try c.input(2), c.optional(3), step: "x")
    let y = try c.dequantize(try c.input(4), try c.input(5), c.optional(6), step: "y")
    let chosen = try c.emitter.add(Select(), condition, x, y, step: "chosen")
    return [try c.quantize(chosen, try c.input(7), c.optional(8), c.emitter.scalar(try c.input(1)))]
  }

  /// `EmbedLayerNormalization` with tables, scale and shift of integers. Rows are gathered before they are widened.
  private static let qEmbedLayerNormalization = ONNXMapper("com.microsoft.QEmbedLayerNormalization") { c in
    let ids = try c.input(0)
    func real(_ index: Int, _ codes: ValueID, _ step: String) throws -> ValueID {
      try c.dequantize(codes, try c.input(8 + index), c.optional(13 + index), step: step)
    }
    let sum = try c.embedded(ids, positions: nil, segments: c.optional(1)) { table, ids, step in
      let codes = try c.emitter.add(Gather(axis: 0), try c.input(2 + table), ids, step: "\(step)_codes")
      return try real(table, codes, step)
    }
    let result = try c.emitter.layerNormalize(
      sum, from: 2, epsilon: c.float("epsilon", default: 1e-12), scale: real(3, try c.input(5), "scale"),
      shift: real(4, try c.input(6), "shift"))
    return [result, try c.maskIndex(c.optional(7), ids)]
  }

  /// An LSTM with integer weights, `[directions, size, 4 · hidden]`, with a scale for each direction or column. ONNX
  /// Runtime also quantizes the other operands of the products; here they keep their type.
  private static let dynamicQuantizeLSTM = ONNXMapper("com.microsoft.DynamicQuantizeLSTM") { c in
    var inputs = Array((c.inputs + [ValueID?](repeating: nil, count: 8)).prefix(8))
    for (index, name) in [(1, "weights"), (2, "recurrent_weights")] {
      guard let codes = c.emitter.weight(try c.input(index)), codes.type.shape.rank == 3,
        let scale = c.emitter.weight(try c.input(6 + 2 * index))
      else { throw c.unsupported("its \(name) or their scales are not constants of three axes") }
      let (sizes, count) = (codes.type.shape, scale.type.count)
      guard count == sizes[0] || count == sizes[0] * sizes[2] else {
        throw c.emitter.invalid("scales of \(name): \(scale.type) for \(codes.type)")
      }
      let grid: Shape = [sizes[0], 1, count / max(sizes[0], 1)]
      let zero = try c.optional(7 + 2 * index).map { id in
        guard let zero = c.emitter.weight(id), zero.type.count == count else {
          throw c.emitter.invalid("zero points of \(name): \(c.emitter.type(id)) for \(scale.type)")
        }
        return zero.reshaped(to: grid)
      }
      let real = try Weight(affine: codes, scale: scale.reshaped(to: grid), offset: zero)
      inputs[index] = try c.emitter.transpose(
        c.emitter.constant(real, step: name), [0, 2, 1], step: "\(name)_rows")
    }
    return try c.asStandard("LSTM", in: 14, inputs: inputs)
  }
}

extension ONNXOperation {
  /// `float(a · b) * (aScale * bScale) + bias`.
  fileprivate func scaledProduct(
    _ a: ValueID, _ b: ValueID, _ aZero: ValueID, _ bZero: ValueID, _ aScale: ValueID, _ bScale: ValueID,
    bias: ValueID?
  ) throws -> ValueID {
    let sums = try emitter.add(MatMulInteger(), a, b, aZero, bZero, step: "sums")
    let real = try emitter.cast(sums, to: emitter.scalar(bScale), step: "real")
    let scale = try emitter.binary(.multiply, aScale, bScale, step: "scale")
    let scaled = try emitter.binary(.multiply, real, scale, step: bias == nil ? nil : "scaled")
    guard let bias else { return scaled }
    return try emitter.binary(.add, scaled, bias)
  }
}

import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let quantization: [ONNXMapper] = [
    quantizeLinear, dequantizeLinear, dynamicQuantizeLinear, convInteger, matMulInteger, qLinearConv, qLinearMatMul,
  ]

  private static let quantizeLinear = ONNXMapper("QuantizeLinear") { c in
    let given = try c.input(0)
    var scale = try c.input(1)
    if !c.emitter.scalar(scale).isFloatingPoint { scale = try c.emitter.cast(scale, to: .float32, step: "real_scale") }
    let isWhole = !c.emitter.scalar(given).isFloatingPoint
    let x = isWhole ? try c.emitter.cast(given, to: c.emitter.scalar(scale), step: "real") : given
    let number = c.integer("output_dtype", default: 0)
    let narrow = c.optional(2) == nil ? ONNXLowPrecisionType(rawValue: number) : c.lowPrecisionType(2)
    if let narrow, narrow.isFloatingPoint { return [try c.quantize(x, scale, c.optional(2), toFloat: narrow)] }
    let standard = number == 0 ? ScalarType.uint8 : narrow?.scalar ?? ScalarType(onnx: number)
    guard let scalar = c.optional(2).map(c.emitter.scalar) ?? standard, scalar.isQuantized else {
      throw c.unsupported("quantizes to ONNX's type number \(number)")
    }
    guard let range = narrow?.range else { return [try c.quantize(x, scale, c.optional(2), scalar)] }
    let wide = try c.quantize(x, scale, c.optional(2), scalar, step: "wide")
    return [try c.emitter.unary(.clip(Float(range.lowerBound), Float(range.upperBound)), wide)]
  }

  private static let dequantizeLinear = ONNXMapper("DequantizeLinear") { c in
    let (x, scale) = (try c.input(0), try c.input(1))
    let number = c.integer("output_dtype", default: 0)
    guard let scalar = number == 0 ? c.emitter.scalar(scale) : ScalarType(onnx: number), scalar.isFloatingPoint else {
      throw c.unsupported("dequantizes to ONNX's type number \(number)")
    }
    if c.emitter.scalar(x).isFloatingPoint { return [try c.dequantizeFloat(x, scale, c.optional(2), scalar)] }
    return [try c.dequantize(x, scale, c.optional(2), to: scalar)]
  }

  /// Quantizes dynamically. The range includes zero: `scale = (max(x, 0) - min(x, 0)) / 255`, or 1 if that is zero, and
  /// `zeroPoint = saturate(round(-min(x, 0) / scale))`.
  private static let dynamicQuantizeLinear = ONNXMapper("DynamicQuantizeLinear") { c in
    let dynamic = try c.dynamicParameters(of: try c.input(0))
    let y = try c.emitter.add(Quantize(scalar: .uint8), [try c.input(0), dynamic.scale, dynamic.zero])
    return [y, dynamic.scale, dynamic.zero]
  }

  private static let convInteger = ONNXMapper("ConvInteger") { c in
    let (x, weights) = (try c.input(0), try c.input(1))
    let kernel = c.integers("kernel_shape") ?? Array(c.emitter.shape(weights).dimensions.dropFirst(2))
    let window = try c.window(kernel: kernel, over: x)
    let operands = [
      x, weights, c.zero(c.optional(2), like: x, step: "x_zero"), c.zero(c.optional(3), like: weights, step: "w_zero"),
    ]
    return [try c.emitter.add(ConvolutionInteger(window: window, groups: c.integer("group", default: 1)), operands)]
  }

  private static let matMulInteger = ONNXMapper("MatMulInteger") { c in
    let (a, b) = (try c.input(0), try c.input(1))
    let (left, right) = (c.emitter.shape(a), c.emitter.shape(b))
    let (aZero, bZero) = (c.optional(2), c.optional(3))
    guard left.rank > 0, right.rank > 0 else { throw c.emitter.invalid("multiplies \(left) and \(right)") }
    let columns = right.rank == 1 ? 1 : right[right.rank - 1]
    let isPlain =
      aZero.map { c.emitter.shape($0).isParameter(of: 1) } ?? true
      && bZero.map { c.emitter.shape($0).isParameter(of: columns) } ?? true
    guard isPlain else { return [try c.centeredProduct(a, b, aZero, bZero)] }
    return [
      try c.emitter.product(a, b) { rows, columns, step in
        try c.emitter.add(
          MatMulInteger(), rows, columns, c.zero(aZero, like: a, step: "a_zero"),
          c.zero(bZero, like: b, step: "b_zero"), step: step)
      }
    ]
  }

  private static let qLinearConv = ONNXMapper("QLinearConv") { c in [try c.quantizedConvolution(of: try c.input(0))] }

  private static let qLinearMatMul = ONNXMapper("QLinearMatMul") { c in
    /// Returns the dequantized value of an operand.
    func operand(_ index: Int, axis: Int, _ step: String) throws -> ValueID {
      let (x, scale, zero) = (try c.input(index), try c.input(index + 1), c.optional(index + 2))
      guard c.emitter.scalar(x).isFloatingPoint else { return try c.dequantize(x, scale, zero, axis: axis, step: step) }
      return try c.dequantizeFloat(x, scale, zero, c.emitter.scalar(scale), axis: axis, step: step)
    }
    let (a, b) = (try operand(0, axis: -2, "a"), try operand(3, axis: -1, "b"))
    let alike = try c.emitter.cast(b, to: c.emitter.scalar(a), step: "b_as_a")
    let product = try c.emitter.matmul(a, alike, step: "product")
    let narrow = c.lowPrecisionType(7)
    if let narrow, narrow.isFloatingPoint {
      return [try c.quantize(product, try c.input(6), c.optional(7), toFloat: narrow)]
    }
    let scalar = c.emitter.scalar(try c.optional(7) ?? c.input(0))
    return [try c.quantize(product, try c.input(6), c.optional(7), scalar)]
  }
}

extension ONNXOperation {
  /// Returns the convolution of the dequantized values; a pass replaces it by integer products.
  ///
  /// - Parameter x: The node's first input, channels first.
  func quantizedConvolution(of x: ValueID, step: String? = nil) throws -> ValueID {
    let weights = try input(3)
    let kernel = integers("kernel_shape") ?? Array(emitter.shape(weights).dimensions.dropFirst(2))
    let window = try window(kernel: kernel, over: x)
    var operands = [
      try dequantize(x, try input(1), optional(2), step: "x"),
      try dequantize(weights, try input(4), optional(5), axis: 0, step: "w"),
    ]
    if let bias = optional(8) {
      let scale = try emitter.binary(.multiply, try input(1), try input(4), step: "bias_scale")
      operands.append(
        try dequantize(bias, try oneDimensional(scale, step: "bias_scales"), nil, axis: 0, step: "bias"))
    }
    let op = Convolution(
      window: window, groups: integer("group", default: 1), epilogue: Epilogue(hasBias: operands.count == 3))
    let product = try emitter.add(op, operands, step: "product")
    return try quantize(product, try input(6), optional(7), emitter.scalar(optional(7) ?? x), step: step)
  }

  func quantize(
    _ x: ValueID, _ scale: ValueID, _ zero: ValueID?, _ scalar: ScalarType, axis: Int? = nil, step: String? = nil
  ) throws -> ValueID {
    let layout = try quantizationAxis(of: x, scale, axis: axis)
    let zero = try zeroPoints(zero, scalar, scale, step: step)
    return try emitter.add(
      Quantize(axis: layout.axis, blockSize: layout.blockSize, scalar: scalar), x, scale, zero, step: step)
  }

  /// Emits a dequantization.
  ///
  /// - Parameters:
  ///   - axis: The axis of several scales; nil for the one that attributes name.
  ///   - scalar: The type of the result; nil for the scale's.
  func dequantize(
    _ x: ValueID, _ scale: ValueID, _ zero: ValueID?, axis: Int? = nil, to scalar: ScalarType? = nil,
    step: String? = nil
  ) throws -> ValueID {
    let layout = try quantizationAxis(of: x, scale, axis: axis)
    let zero = try zeroPoints(zero, emitter.scalar(x), scale, step: step)
    return try emitter.add(
      Dequantize(axis: layout.axis, blockSize: layout.blockSize, scalar: scalar ?? emitter.scalar(scale)), x, scale,
      zero, step: step)
  }

  /// Returns the elements that share a scale: all elements for a single scale, those at an index of an axis for a
  /// vector, and blocks for a tensor of x's rank.
  func quantizationAxis(of x: ValueID, _ scale: ValueID, axis: Int?) throws -> QuantizationAxis {
    let parameter = emitter.shape(scale)
    let blockSize = integer("block_size", default: 0)
    if blockSize <= 0, parameter.rank <= 1, parameter.count == 1 { return QuantizationAxis(nil) }
    let axis = try emitter.axis(axis ?? integer("axis", default: 1), of: x)
    return QuantizationAxis(axis, blockSize: max(blockSize, 1))
  }

  /// Returns the zero points; zeros in the shape of the scale if they are omitted.
  private func zeroPoints(
    _ zero: ValueID?, _ scalar: ScalarType, _ scale: ValueID, step: String?
  ) throws -> ValueID {
    if let zero { return zero }
    let type = TensorType(scalar, emitter.shape(scale))
    return emitter.constant(Weight(type) { type.zeros }, step: "\(step.map { "\($0)_" } ?? "")zero_point")
  }

  /// Returns the single zero point of an operand; 0 if it is omitted.
  func zero(_ zero: ValueID?, like x: ValueID, step: String) -> ValueID {
    zero ?? emitter.constant(0, emitter.scalar(x), step: step)
  }

  /// Returns the product of integers with a zero point for each row of the first operand, or each column of each matrix
  /// of the second one.
  fileprivate func centeredProduct(_ a: ValueID, _ b: ValueID, _ aZero: ValueID?, _ bZero: ValueID?) throws -> ValueID {
    func centered(_ x: ValueID, _ zero: ValueID?, _ step: String, ofRows: Bool) throws -> ValueID {
      let wide = try emitter.cast(x, to: .int32, step: "\(step)_wide")
      guard let zero else { return wide }
      let (shape, count) = (emitter.shape(zero), emitter.shape(x).dimensions.last ?? 1)
      // A vector has a number for each row of the first operand.
      let column =
        ofRows && shape.rank == 1 && shape.count > 1 && emitter.shape(x).rank > 1
        ? try emitter.reshape(zero, [shape.count, 1], step: "\(step)_zero_column") : zero
      guard emitter.shape(column).broadcast(with: emitter.shape(x)) == emitter.shape(x) else {
        throw emitter.invalid(
          "zero point \(emitter.type(zero)) for \(emitter.type(x)), expected one or one for each of \(count)")
      }
      let wideZero = try emitter.cast(column, to: .int32, step: "\(step)_zero_wide")
      return try emitter.binary(.subtract, wide, wideZero, step: "\(step)_centered")
    }
    return try emitter.matmul(
      try centered(a, aZero, "a", ofRows: true), try centered(b, bZero, "b", ofRows: false))
  }

  func oneDimensional(_ x: ValueID, step: String) throws -> ValueID {
    emitter.shape(x).rank == 1 ? x : try emitter.reshape(x, [emitter.shape(x).count], step: step)
  }

  /// Returns the scale and zero point with which the range of x, extended to include zero, fits unsigned 8 bits.
  func dynamicParameters(of x: ValueID) throws -> (scale: ValueID, zero: ValueID) {
    let axes = Array(0..<emitter.shape(x).rank)
    let scalar = emitter.scalar(x)
    let none = emitter.constant(0, scalar, step: "none")
    let largest = try emitter.add(Reduce(.maximum, axes: axes, keepsDimensions: false), x, step: "largest")
    let smallest = try emitter.add(Reduce(.minimum, axes: axes, keepsDimensions: false), x, step: "smallest")
    let upper = try emitter.binary(.maximum, largest, none, step: "upper")
    let lower = try emitter.binary(.minimum, smallest, none, step: "lower")
    let range = try emitter.binary(.subtract, upper, lower, step: "range")
    let steps = emitter.constant(255, scalar, step: "steps")
    let quotient = try emitter.binary(.divide, range, steps, step: "quotient")
    let isEmpty = try emitter.add(Compare(.equal), range, none, step: "is_empty")
    let one = emitter.constant(1, scalar, step: "one")
    let scale = try emitter.add(Select(), isEmpty, one, quotient, step: "scale")
    let offset = try emitter.binary(
      .subtract, none, try emitter.binary(.divide, lower, scale, step: "below"), step: "offset")
    let clipped = try emitter.unary(.clip(0, 255), offset, step: "clipped")
    let rounded = try emitter.unary(UnaryFunction(.round), clipped, step: "rounded")
    return (scale, try emitter.add(Cast(.uint8), rounded, step: "zero"))
  }
}

extension TensorType {
  fileprivate var zeros: Tensor { Tensor(self, Bytes([UInt8](repeating: 0, count: byteCount))) }
}

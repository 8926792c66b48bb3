import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Quantization by scales and zero points.
  static let quantization: [MILMapper] = [quantize, dequantize]

  /// `clip(round(input / scale) + zero_point)`.
  private static let quantize = MILMapper("quantize") { c in
    let x = try c.value("input")
    let name = try c.required("output_dtype", c.text)
    guard let scalar = ScalarType(milName: name) else { throw c.emitter.invalid("quantizes to '\(name)'") }
    let parameters = try c.quantization(of: x, scalar)
    return try c.emitter.add(Quantize(axis: parameters.axis, scalar: scalar), x, parameters.scale, parameters.zeroPoint)
  }

  /// `(input - zero_point) · scale`, in the type of the scale.
  private static let dequantize = MILMapper("dequantize") { c in
    let x = try c.value("input")
    let parameters = try c.quantization(of: x, c.emitter.scalar(x))
    let result = c.emitter.scalar(parameters.scale)
    return try c.emitter.add(
      Dequantize(axis: parameters.axis, scalar: result), x, parameters.scale, parameters.zeroPoint)
  }
}

extension MILContext {
  /// Returns the scale, the zero point (0 if it is omitted), and the axis along which they vary; nil for an axis if
  /// they are scalars.
  fileprivate func quantization(
    of x: ValueID, _ scalar: ScalarType
  ) throws -> (scale: ValueID, zeroPoint: ValueID, axis: Int?) {
    let scale = try value("scale")
    let shape = emitter.shape(scale)
    let zeroPoint: ValueID
    if let given = try optional("zero_point") {
      zeroPoint = given
    } else {
      let zeros = Tensor(TensorType(scalar, shape), Bytes(count: shape.count * scalar.byteCount) { _ in })
      zeroPoint = emitter.constant(Weight(zeros), step: "zero_point")
    }
    guard shape.rank > 0 else { return (scale, zeroPoint, nil) }
    guard let axis = try integer("axis") else { throw emitter.invalid("input 'axis' is missing") }
    return (scale, zeroPoint, try emitter.axis(axis, of: x))
  }
}

import KelvinGraph
import KelvinImport

extension MILMapper {
  /// `clip(round(input / scale) + zero_point)`.
  static let quantize = MILMapper("quantize") { operation, scope in
    let x = try operation.value("input", scope)
    let name = try operation.required(try operation.text("output_dtype", scope), "output_dtype", scope)
    guard let scalar = ScalarType(milName: name) else { throw scope.emitter.invalid("quantizes to '\(name)'") }
    let parameters = try operation.quantization(of: x, scalar, scope)
    return try scope.emitter.add(
      Quantize(axis: parameters.axis, scalar: scalar), x, parameters.scale, parameters.zeroPoint)
  }

  /// `(input - zero_point) · scale`, in the type of the scale.
  static let dequantize = MILMapper("dequantize") { operation, scope in
    let x = try operation.value("input", scope)
    let parameters = try operation.quantization(of: x, scope.emitter.scalar(x), scope)
    let result = scope.emitter.scalar(parameters.scale)
    return try scope.emitter.add(
      Dequantize(axis: parameters.axis, scalar: result), x, parameters.scale, parameters.zeroPoint)
  }
}

extension MILOperation {
  /// Returns the scale, the zero point (0 if it is omitted), and the axis along which they vary; nil for an axis if
  /// they are scalars.
  fileprivate func quantization(
    of x: ValueID, _ scalar: ScalarType, _ scope: MILScope
  ) throws -> (scale: ValueID, zeroPoint: ValueID, axis: Int?) {
    let scale = try value("scale", scope)
    let shape = scope.emitter.shape(scale)
    let zeroPoint: ValueID
    if let given = try optional("zero_point", scope) {
      zeroPoint = given
    } else {
      let zeros = Tensor(TensorType(scalar, shape), Bytes(count: shape.count * scalar.byteCount) { _ in })
      zeroPoint = scope.emitter.constant(Weight(zeros), step: "zero_point")
    }
    guard shape.rank > 0 else { return (scale, zeroPoint, nil) }
    guard let axis = try integer("axis", scope) else { throw scope.emitter.invalid("input 'axis' is missing") }
    return (scale, zeroPoint, try scope.emitter.axis(axis, of: x))
  }
}

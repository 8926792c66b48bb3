import KelvinGraph
import KelvinImport

/// More operators on integers of `com.microsoft`. Each maps to the operator on the dequantized values between
/// dequantization and quantization: ONNX Runtime's `ContribOperators.md`.
extension ONNXMapper {
  static let microsoftQuantizedLayers: [ONNXMapper] = [
    qLinearSoftmax, qLinearReduceMean, qLinearWhere, qEmbedLayerNormalization, dynamicQuantizeLSTM,
  ]

  /// Softmax along one axis, or before operator set 13 along all axes from the given one on.
  private static let qLinearSoftmax = ONNXMapper("com.microsoft.QLinearSoftmax") { c in
    let x = try c.dequantize(try c.input(0), try c.input(1), c.optional(2), step: "x")
    let (sizes, axis) = (c.emitter.shape(x), try c.emitter.axis(c.integer("axis", default: -1), of: x))
    var shares: ValueID
    if c.integer("opset", default: 13) >= 13 || axis == sizes.rank - 1 {
      shares = try c.emitter.add(Softmax(axis: axis), x, step: "shares")
    } else {
      let rows: Shape = [sizes.dimensions[..<axis].reduce(1, *), sizes.dimensions[axis...].reduce(1, *)]
      shares = try c.emitter.add(Softmax(axis: 1), c.emitter.reshape(x, rows, step: "rows"), step: "row_shares")
      shares = try c.emitter.reshape(shares, sizes, step: "shares")
    }
    return [try c.quantize(shares, try c.input(3), c.optional(4), c.emitter.scalar(try c.input(0)))]
  }

  private static let qLinearReduceMean = ONNXMapper("com.microsoft.QLinearReduceMean") { c in
    let x = try c.dequantize(try c.input(0), try c.input(1), c.optional(2), step: "x")
    let given = c.integers("axes") ?? []
    let axes = given.isEmpty ? Array(0..<c.emitter.shape(x).rank) : try c.emitter.axes(given, of: x)
    let mean = try c.emitter.add(
      Reduce(.mean, axes: axes, keepsDimensions: c.flag("keepdims", default: true)), x, step: "mean")
    return [try c.quantize(mean, try c.input(3), c.optional(4), c.emitter.scalar(try c.input(0)))]
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

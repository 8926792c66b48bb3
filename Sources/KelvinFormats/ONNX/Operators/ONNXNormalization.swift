#if ONNX
import KelvinGraph

extension ONNXMapper {
  /// Inference only: the running statistics are used.
  static let batchNormalization = ONNXMapper("BatchNormalization") { c in
    guard !c.flag("training_mode") else {
      throw c.unsupported("it is in training mode", remedy: "export the model for inference")
    }
    guard c.flag("spatial", default: true) else { throw c.unsupported("statistics for each element (spatial = 0)") }
    let x = try c.input(0)
    var operands = [x]
    for index in 1...4 {
      operands.append(try c.emitter.cast(try c.input(index), to: c.emitter.scalar(x), step: "parameter_\(index)"))
    }
    return [try c.emitter.add(BatchNormalization(epsilon: c.float("epsilon", default: 1e-5)), operands)]
  }

  /// Normalises over the last axes, from `axis` on.
  static let layerNormalization = ONNXMapper("LayerNormalization") { c in
    let (x, scale) = (try c.input(0), try c.input(1))
    let axis = try c.emitter.axis(c.integer("axis", default: -1), of: x)
    let epsilon = c.float("epsilon", default: 1e-5)
    let result = try c.emitter.layerNormalize(
      x, from: axis, epsilon: epsilon, scale: scale, shift: c.optional(2))
    guard c.node.outputs.dropFirst().contains(where: { !$0.isEmpty }) else { return [result] }
    // The mean and the inverse deviation.
    let axes = Array(axis..<c.emitter.shape(x).rank)
    let wide = try c.emitter.cast(x, to: .float32, step: "wide")
    let mean = try c.emitter.add(Reduce(.mean, axes: axes, keepsDimensions: true), wide, step: "mean")
    let centered = try c.emitter.binary(.subtract, wide, mean, step: "centered")
    let squared = try c.emitter.unary(UnaryFunction(.square), centered, step: "squared")
    let variance = try c.emitter.add(Reduce(.mean, axes: axes, keepsDimensions: true), squared, step: "variance")
    return [result, mean, try c.emitter.unary(UnaryFunction(.rsqrt, a: epsilon), variance, step: "inverse_deviation")]
  }

  /// Normalises each channel of each sample over its spatial axes.
  static let instanceNormalization = ONNXMapper("InstanceNormalization") { c in
    let x = try c.input(0)
    let shape = c.emitter.shape(x)
    guard shape.rank >= 3 else { throw c.emitter.invalid("expected [N, C, spatial…], got \(c.emitter.type(x))") }
    let (scale, shift) = (try c.input(1), try c.input(2))
    return [
      try c.emitter.groupNormalize(
        x, groups: shape[1], epsilon: c.float("epsilon", default: 1e-5), scale: scale, shift: shift)
    ]
  }
}
#endif

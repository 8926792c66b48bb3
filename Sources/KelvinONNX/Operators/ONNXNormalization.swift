import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let normalizations: [ONNXMapper] = [
    batchNormalization, layerNormalization, instanceNormalization, groupNormalization, rmsNormalization,
    meanVarianceNormalization, localResponseNormalization, lpNormalization,
  ]

  /// Normalizes by the running statistics. In training mode, which operator sets before 14 indicate by additional
  /// outputs, it normalizes by the statistics of the batch and updates the running ones.
  private static let batchNormalization = ONNXMapper("BatchNormalization") { c in
    let isTraining = c.opset < 14 ? c.node.outputs.dropFirst().contains { !$0.isEmpty } : c.flag("training_mode")
    guard !isTraining else { return try c.trainedBatchNormalization() }
    let x = try c.input(0)
    let epsilon = c.float("epsilon", default: 1e-5)
    var operands = [x]
    for index in 1...4 {
      operands.append(try c.emitter.cast(try c.input(index), to: c.emitter.scalar(x), step: "parameter_\(index)"))
    }
    guard c.flag("spatial", default: true) else {
      // The statistics are per element of a sample.
      let centered = try c.emitter.binary(.subtract, x, operands[3], step: "centered")
      let inverse = try c.emitter.unary(UnaryFunction(.rsqrt, a: epsilon), operands[4], step: "inverse_deviation")
      let normal = try c.emitter.binary(.multiply, centered, inverse, step: "normal")
      return [
        try c.emitter.binary(
          .add, try c.emitter.binary(.multiply, normal, operands[1], step: "scaled"), operands[2])
      ]
    }
    return [try c.emitter.add(BatchNormalization(epsilon: epsilon), operands)]
  }

  /// Normalizes over the last axes, from `axis` on.
  private static let layerNormalization = ONNXMapper("LayerNormalization") { c in
    let (x, scale) = (try c.input(0), try c.input(1))
    let axis = try c.emitter.axis(c.integer("axis", default: -1), of: x)
    let epsilon = c.float("epsilon", default: 1e-5)
    let result = try c.emitter.layerNormalize(
      x, from: axis, epsilon: epsilon, scale: scale, shift: c.optional(2))
    guard c.node.outputs.dropFirst().contains(where: { !$0.isEmpty }) else { return [result] }
    let statistics = try c.emitter.statistics(of: x, axes: Array(axis..<c.emitter.shape(x).rank), epsilon: epsilon)
    return [result, statistics.mean, statistics.inverseDeviation]
  }

  /// Normalizes each channel of each sample over its spatial axes.
  private static let instanceNormalization = ONNXMapper("InstanceNormalization") { c in
    let x = try c.input(0)
    let shape = c.emitter.shape(x)
    guard shape.rank >= 3 else { throw c.emitter.invalid("expected [N, C, spatial…], got \(c.emitter.type(x))") }
    let (scale, shift) = (try c.input(1), try c.input(2))
    return [
      try c.emitter.groupNormalize(
        x, groups: shape[1], epsilon: c.float("epsilon", default: 1e-5), scale: scale, shift: shift)
    ]
  }

  /// A group normalization with parameters for each group in operator set 18, for each channel from 21 on.
  private static let groupNormalization = ONNXMapper("GroupNormalization") { c in
    let x = try c.input(0)
    let groups = c.integer("num_groups", default: 0)
    guard c.emitter.shape(x).rank >= 2, groups > 0 else {
      throw c.emitter.invalid("\(groups) groups of \(c.emitter.type(x))")
    }
    let channels = c.emitter.shape(x)[1]
    var parameters: [ValueID] = []
    for (index, name) in [(1, "scale"), (2, "shift")] {
      let parameter = try c.input(index)
      if c.emitter.shape(parameter) == [groups], groups != channels, channels % groups == 0 {
        let column = try c.emitter.reshape(parameter, [groups, 1], step: "\(name)_column")
        let repeated = try c.emitter.add(Expand([groups, channels / groups]), column, step: "\(name)_repeated")
        parameters.append(try c.emitter.reshape(repeated, [channels], step: "\(name)_vector"))
      } else {
        parameters.append(parameter)
      }
    }
    return [
      try c.emitter.groupNormalize(
        x, groups: groups, epsilon: c.float("epsilon", default: 1e-5), scale: parameters[0], shift: parameters[1])
    ]
  }

  private static let rmsNormalization = ONNXMapper("RMSNormalization") { c in
    let x = try c.input(0)
    let axis = try c.emitter.axis(c.integer("axis", default: -1), of: x)
    let axes = Array(axis..<c.emitter.shape(x).rank)
    return [
      try c.emitter.rootMeanSquareNormalize(
        x, axes: axes, epsilon: c.float("epsilon", default: 1e-5), scale: c.optional(1))
    ]
  }

  /// `(x - mean) / (deviation + 1e-9)` over the given axes. Before operator set 9 it is experimental: with
  /// `across_channels` over all axes, and without `normalize_variance` not divided.
  private static let meanVarianceNormalization = ONNXMapper("MeanVarianceNormalization") { c in
    let x = try c.input(0)
    let isFirst = c.opset < 9
    let standard = isFirst && c.flag("across_channels") ? Array(0..<c.emitter.shape(x).rank) : [0, 2, 3]
    let axes = try c.emitter.axes(c.integers("axes") ?? standard, of: x)
    let mean = try c.emitter.add(Reduce(.mean, axes: axes, keepsDimensions: true), x, step: "mean")
    if isFirst, !c.flag("normalize_variance", default: true) { return [try c.emitter.binary(.subtract, x, mean)] }
    let centered = try c.emitter.binary(.subtract, x, mean, step: "centered")
    let squared = try c.emitter.unary(UnaryFunction(.square), centered, step: "squared")
    let variance = try c.emitter.add(Reduce(.mean, axes: axes, keepsDimensions: true), squared, step: "variance")
    let deviation = try c.emitter.unary(UnaryFunction(.sqrt), variance, step: "deviation")
    let divisor = try c.emitter.unary(UnaryFunction(.affine, a: 1, b: 1e-9), deviation, step: "divisor")
    return [try c.emitter.binary(.divide, centered, divisor)]
  }

  private static let localResponseNormalization = ONNXMapper("LRN") { c in
    let x = try c.input(0)
    let op = LocalResponseNormalization(
      size: c.integer("size", default: 0), alpha: c.float("alpha", default: 1e-4), beta: c.float("beta", default: 0.75),
      k: c.float("bias", default: 1))
    return [try c.emitter.add(op, x)]
  }

  private static let lpNormalization = ONNXMapper("LpNormalization") { c in
    let x = try c.input(0)
    let axis = try c.emitter.axis(c.integer("axis", default: -1), of: x)
    return [try c.emitter.lengthNormalize(x, axis: axis, order: c.integer("p", default: 2))]
  }
}

extension Emitter {
  /// Returns the mean and the inverse standard deviation along some axes, which keep size 1, in float32.
  func statistics(of x: ValueID, axes: [Int], epsilon: Float) throws -> (mean: ValueID, inverseDeviation: ValueID) {
    let wide = try cast(x, to: .float32, step: "wide")
    let mean = try add(Reduce(.mean, axes: axes, keepsDimensions: true), wide, step: "mean")
    let centered = try binary(.subtract, wide, mean, step: "centered")
    let squared = try unary(UnaryFunction(.square), centered, step: "squared")
    let variance = try add(Reduce(.mean, axes: axes, keepsDimensions: true), squared, step: "variance")
    return (mean, try unary(UnaryFunction(.rsqrt, a: epsilon), variance, step: "inverse_deviation"))
  }
}

extension ONNXOperation {
  /// Returns the result, the running mean and variance, and, before operator set 14, those of the batch.
  fileprivate func trainedBatchNormalization() throws -> [ValueID] {
    let x = try input(0)
    let rank = emitter.shape(x).rank
    guard rank >= 2 else { throw emitter.invalid("expected [N, C, …], got \(emitter.type(x))") }
    let isSpatial = flag("spatial", default: true)
    let axes = isSpatial ? (0..<rank).filter { $0 != 1 } : [0]
    let scalar = emitter.scalar(x)
    let wide = try emitter.cast(x, to: scalar == .float16 ? .float32 : scalar, step: "wide")
    let mean = try emitter.add(Reduce(.mean, axes: axes, keepsDimensions: true), wide, step: "kept_mean")
    let centered = try emitter.binary(.subtract, wide, mean, step: "centered")
    let squared = try emitter.unary(UnaryFunction(.square), centered, step: "squared")
    let variance = try emitter.add(Reduce(.mean, axes: axes, keepsDimensions: true), squared, step: "kept_variance")
    let inverse = try emitter.unary(
      UnaryFunction(.rsqrt, a: float("epsilon", default: 1e-5)), variance, step: "inverse_deviation")
    func parameter(_ index: Int, _ step: String) throws -> ValueID {
      let given = try emitter.cast(try input(index), to: emitter.scalar(wide), step: "\(step)_wide")
      return try emitter.reshape(given, emitter.shape(mean), step: step)
    }
    let normal = try emitter.binary(.multiply, centered, inverse, step: "normal")
    let scaled = try emitter.binary(.multiply, normal, try parameter(1, "scale"), step: "scaled")
    let result = try emitter.cast(
      try emitter.binary(.add, scaled, try parameter(2, "shift"), step: "shifted"), to: scalar)
    let momentum = float("momentum", default: 0.9)
    /// Returns a statistic of the batch in the type and shape of the running one, and the updated running one.
    func statistics(_ now: ValueID, _ index: Int, _ step: String) throws -> (now: ValueID, running: ValueID) {
      let running = try input(index)
      let given = try emitter.cast(
        try emitter.reshape(now, emitter.shape(running), step: "\(step)_row"), to: emitter.scalar(running), step: step)
      let kept = try emitter.unary(UnaryFunction(.affine, a: momentum), running, step: "\(step)_kept")
      let added = try emitter.unary(UnaryFunction(.affine, a: 1 - momentum), given, step: "\(step)_added")
      return (given, try emitter.binary(.add, kept, added, step: "running_\(step)"))
    }
    let (means, variances) = (try statistics(mean, 3, "mean"), try statistics(variance, 4, "variance"))
    return [result, means.running, variances.running] + (opset < 14 ? [means.now, variances.now] : [])
  }
}

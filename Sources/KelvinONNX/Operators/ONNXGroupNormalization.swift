import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// A group normalization with parameters for each group in operator set 18, for each channel from 21 on.
  static let groupNormalization = ONNXMapper("GroupNormalization") { c in
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

  static let rmsNormalization = ONNXMapper("RMSNormalization") { c in
    let x = try c.input(0)
    let axis = try c.emitter.axis(c.integer("axis", default: -1), of: x)
    let axes = Array(axis..<c.emitter.shape(x).rank)
    return [
      try c.emitter.rootMeanSquareNormalize(
        x, axes: axes, epsilon: c.float("epsilon", default: 1e-5), scale: c.optional(1))
    ]
  }

  /// `(x - mean) / (deviation + 1e-9)` over the given axes.
  static let meanVarianceNormalization = ONNXMapper("MeanVarianceNormalization") { c in
    let x = try c.input(0)
    let axes = try c.emitter.axes(c.integers("axes") ?? [0, 2, 3], of: x)
    let mean = try c.emitter.add(Reduce(.mean, axes: axes, keepsDimensions: true), x, step: "mean")
    let centered = try c.emitter.binary(.subtract, x, mean, step: "centered")
    let squared = try c.emitter.unary(UnaryFunction(.square), centered, step: "squared")
    let variance = try c.emitter.add(Reduce(.mean, axes: axes, keepsDimensions: true), squared, step: "variance")
    let deviation = try c.emitter.unary(UnaryFunction(.sqrt), variance, step: "deviation")
    let divisor = try c.emitter.unary(UnaryFunction(.affine, a: 1, b: 1e-9), deviation, step: "divisor")
    return [try c.emitter.binary(.divide, centered, divisor)]
  }

  static let localResponseNormalization = ONNXMapper("LRN") { c in
    let x = try c.input(0)
    let op = LocalResponseNormalization(
      size: c.integer("size", default: 0), alpha: c.float("alpha", default: 1e-4), beta: c.float("beta", default: 0.75),
      k: c.float("bias", default: 1))
    return [try c.emitter.add(op, x)]
  }

  static let lpNormalization = ONNXMapper("LpNormalization") { c in
    let x = try c.input(0)
    let axis = try c.emitter.axis(c.integer("axis", default: -1), of: x)
    return [try c.emitter.lengthNormalize(x, axis: axis, order: c.integer("p", default: 2))]
  }
}

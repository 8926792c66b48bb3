package import KelvinGraph

/// Normalizations over trailing axes, which are a single operator.
extension Emitter {
  /// Normalizes over `axis` and the axes after it. Scale and shift must broadcast to these axes.
  package func layerNormalize(
    _ x: ValueID, from axis: Int, epsilon: Float, scale: ValueID?, shift: ValueID?
  ) throws -> ValueID {
    let inner = Shape(Array(shape(x).dimensions[axis...]))
    var operands = [x]
    if let scale, shape(scale) == inner, shift.map({ shape($0) == inner }) ?? true {
      operands.append(try cast(scale, to: scalar(x), step: "scale"))
      if let shift { operands.append(try cast(shift, to: scalar(x), step: "shift")) }
      return try add(LayerNormalization(axis: axis, epsilon: epsilon), operands)
    }
    return try normalizeInner(x, from: axis, as: shape(x), epsilon: epsilon, scale: scale, shift: shift)
  }

  /// Normalizes groups of channels of `[N, C, …]`, with a scale and a shift for each channel.
  package func groupNormalize(
    _ x: ValueID, groups: Int, epsilon: Float, scale: ValueID?, shift: ValueID?
  ) throws -> ValueID {
    let sizes = shape(x).dimensions
    guard sizes.count >= 2, groups > 0, sizes[1] % groups == 0 else {
      throw invalid("\(type(x)) does not have \(groups) groups of channels")
    }
    let grouped = try reshape(x, Shape([sizes[0], groups, sizes[1] / groups] + sizes[2...]), step: "grouped")
    return try normalizeInner(
      grouped, from: 2, as: shape(x), epsilon: epsilon, scale: try scale.map { try channels($0, of: x, step: "scale") },
      shift: try shift.map { try channels($0, of: x, step: "shift") })
  }

  /// Normalizes without parameters, reshapes, and then scales and shifts.
  private func normalizeInner(
    _ x: ValueID, from axis: Int, as target: Shape, epsilon: Float, scale: ValueID?, shift: ValueID?
  ) throws -> ValueID {
    let isLast = scale == nil && shift == nil
    var result = try add(
      LayerNormalization(axis: axis, epsilon: epsilon), x, step: isLast && shape(x) == target ? nil : "normalized")
    result = try reshape(result, target, step: isLast ? nil : "ungrouped")
    if let scale {
      let factor = try cast(scale, to: scalar(x), step: "factor")
      result = try binary(.multiply, result, factor, step: shift == nil ? nil : "scaled")
    }
    if let shift { result = try binary(.add, result, try cast(shift, to: scalar(x), step: "addend")) }
    return result
  }

  /// `x / sqrt(mean(x²) + epsilon) · scale` over the given axes, computed in float32 if x is float16.
  package func rootMeanSquareNormalize(
    _ x: ValueID, axes: [Int], epsilon: Float, scale: ValueID?
  ) throws -> ValueID {
    let scalar = scalar(x)
    let working: ScalarType = scalar == .float16 ? .float32 : scalar
    let wide = try cast(x, to: working, step: "wide")
    let squared = try unary(UnaryFunction(.square), wide, step: "squared")
    let mean = try add(Reduce(.mean, axes: axes, keepsDimensions: true), squared, step: "mean_square")
    let inverse = try unary(UnaryFunction(.rsqrt, a: epsilon), mean, step: "inverse")
    var result = try binary(
      .multiply, wide, inverse, step: scale == nil && working == scalar ? nil : "normalized")
    if let scale {
      let factor = try cast(scale, to: working, step: "factor")
      result = try binary(.multiply, result, factor, step: working == scalar ? nil : "scaled")
    }
    return try cast(result, to: scalar)
  }

  /// `x / (k + alpha / size · Σ x²)^beta`, with PyTorch's windows: an even size includes one more channel before than
  /// after. The operator has the longer side after, so the channels are reversed for it.
  package func localResponseNormalize(_ x: ValueID, size: Int, alpha: Float, beta: Float, k: Float) throws -> ValueID {
    let op = LocalResponseNormalization(size: size, alpha: alpha, beta: beta, k: k)
    guard size % 2 == 0, shape(x).rank >= 2 else { return try add(op, x) }
    let reversed = try reverse(x, [1], step: "reversed")
    return try reverse(try add(op, reversed, step: "normalized"), [1])
  }

  /// Divides x by its norm of order 1 or 2 along an axis; the result is zero where the norm is zero.
  package func lengthNormalize(_ x: ValueID, axis: Int, order: Int) throws -> ValueID {
    guard order == 1 || order == 2 else { throw invalid("order \(order): expected 1 or 2") }
    let length = try add(
      Reduce(order == 1 ? .l1 : .l2, axes: [axis], keepsDimensions: true), x, step: "length")
    let floor = constant(scalar(x) == .float16 ? 6.104e-5 : 1.2e-38, scalar(x), step: "least_length")
    return try binary(.divide, x, try binary(.maximum, length, floor, step: "divisor"))
  }
}

package import KelvinGraph

/// Operations of the formats that have no single equivalent in the operator catalog.
extension Emitter {
  package func unary(_ function: UnaryFunction, _ x: ValueID, step: String? = nil) throws -> ValueID {
    try add(Unary(function), x, step: step)
  }

  package func binary(
    _ function: Binary.Function, _ x: ValueID, _ y: ValueID, step: String? = nil
  ) throws -> ValueID {
    try add(Binary(function), x, y, step: step)
  }

  /// `x` where `x >= 0`, else `slope · x`; the slope broadcasts to x.
  package func prelu(_ x: ValueID, slope: ValueID) throws -> ValueID {
    if let slope = float(slope) { return try unary(UnaryFunction(.leakyRelu, a: slope), x) }
    let negative = try unary(.clip(-.infinity, 0), x, step: "negative")
    let scaled = try binary(.multiply, negative, slope, step: "scaled")
    return try binary(.add, try unary(.relu, x, step: "positive"), scaled)
  }

  /// `ln(softmax x) = x - ln Σe^x` along one axis.
  package func logSoftmax(_ x: ValueID, axis: Int, step: String? = nil) throws -> ValueID {
    let sum = try add(Reduce(.logSumExp, axes: [axis], keepsDimensions: true), x, step: "log_sum_exp")
    return try binary(.subtract, x, sum, step: step)
  }

  /// `(x - mean) / sqrt(variance + epsilon) · scale + shift`, with the statistics of x over some axes, computed in
  /// float32 if x is float16. Scale and shift broadcast to x.
  package func normalize(
    _ x: ValueID, axes: [Int], epsilon: Float, scale: ValueID?, shift: ValueID?
  ) throws -> ValueID {
    let scalar = scalar(x)
    let working: ScalarType = scalar == .float16 ? .float32 : scalar
    let wide = try cast(x, to: working, step: "wide")
    let mean = try add(Reduce(.mean, axes: axes, keepsDimensions: true), wide, step: "mean")
    let centered = try binary(.subtract, wide, mean, step: "centered")
    let squared = try unary(UnaryFunction(.square), centered, step: "squared")
    let variance = try add(Reduce(.mean, axes: axes, keepsDimensions: true), squared, step: "variance")
    let inverse = try unary(UnaryFunction(.rsqrt, a: epsilon), variance, step: "inverse_deviation")
    let needsMore = scale != nil || shift != nil || working != scalar
    var result = try binary(.multiply, centered, inverse, step: needsMore ? "normalized" : nil)
    if let scale {
      let factor = try cast(scale, to: working, step: "scale")
      result = try binary(.multiply, result, factor, step: shift != nil || working != scalar ? "scaled" : nil)
    }
    if let shift {
      let addend = try cast(shift, to: working, step: "shift")
      result = try binary(.add, result, addend, step: working != scalar ? "shifted" : nil)
    }
    return try cast(result, to: scalar)
  }

  /// Returns the same windows, with enough padding at the end that no window is partly outside.
  private func settled(_ window: Window, over x: ValueID) throws -> Window {
    guard window.roundsUp else { return window }
    let spatial = Array(shape(x).dimensions.dropFirst(2))
    let sizes: [Int]
    do { sizes = try window.outputSizes(spatial) } catch { throw invalid(error.description) }
    var result = window
    result.roundsUp = false
    for (axis, size) in sizes.enumerated() {
      let reach = (size - 1) * window.strides[axis] + window.dilations[axis] * (window.kernel[axis] - 1) + 1
      result.after[axis] = max(window.after[axis], reach - spatial[axis] - window.before[axis])
    }
    return result
  }

  /// `(Σ|x|^order)^(1/order)` over each window; padding counts as zeros.
  package func lengthPool(_ x: ValueID, _ window: Window, order: Int) throws -> ValueID {
    let window = try settled(window, over: x)
    func raised(_ x: ValueID, _ exponent: Double, step: String?) throws -> ValueID {
      try binary(.power, x, constant(exponent, scalar(x), step: "exponent"), step: step)
    }
    let terms =
      switch order {
      case 1: try unary(UnaryFunction(.abs), x, step: "terms")
      case 2: try unary(UnaryFunction(.square), x, step: "terms")
      default: try raised(unary(UnaryFunction(.abs), x, step: "sizes"), Double(order), step: "terms")
      }
    let mean = try add(Pool(.averageIncludingPadding, window: window), terms, step: "mean")
    let total = UnaryFunction(.affine, a: Float(Shape(window.kernel).isAddressable ? window.count : 0))
    let sum = try unary(total, mean, step: order == 1 ? nil : "sum")
    switch order {
    case 1: return sum
    case 2: return try unary(UnaryFunction(.sqrt), sum)
    default: return try raised(sum, 1 / Double(order), step: nil)
    }
  }

  /// Returns a vector with one element per channel as a tensor that broadcasts along axis 1 of x.
  package func channels(_ vector: ValueID, of x: ValueID, step: String) throws -> ValueID {
    guard shape(x).rank >= 2, shape(vector).count == shape(x)[1] else {
      throw invalid("\(step): expected \(shape(x).rank >= 2 ? shape(x)[1] : 0) elements, got \(type(vector))")
    }
    return try reshape(vector, Shape([shape(x)[1]] + [Int](repeating: 1, count: shape(x).rank - 2)), step: step)
  }

  /// Adds elements before and after each axis; negative amounts remove elements.
  package func pad(
    _ x: ValueID, before: [Int], after: [Int], mode: Pad.Mode, step: String? = nil
  ) throws -> ValueID {
    let source = shape(x)
    guard before.count == source.rank, after.count == source.rank,
      (before + after).allSatisfy({ abs($0.clamped) < 1 << 31 })
    else { throw invalid("pads \(before) and \(after) do not fit \(type(x))") }
    var cut: [SliceRange] = []
    for axis in 0..<source.rank {
      let (front, back) = (max(0, -before[axis]), max(0, -after[axis]))
      guard front + back <= source[axis] else { throw invalid("axis \(axis) of \(type(x)) is cut to a negative size") }
      let count = source[axis] - front - back
      cut.append(SliceRange(start: count == 0 ? 0 : front, count: count))
    }
    let (front, back) = (before.map { max(0, $0) }, after.map { max(0, $0) })
    let isPadded = (front + back).contains { $0 > 0 }
    let kept = try slice(x, cut, step: isPadded ? "cut" : step)
    return isPadded ? try add(Pad(before: front, after: back, mode: mode), kept, step: step) : kept
  }

  /// Adds elements of one value before and after each axis. The value is an attribute if float32 represents it;
  /// otherwise the elements are concatenated axis by axis.
  package func pad(_ x: ValueID, before: [Int], after: [Int], value: Tensor, step: String? = nil) throws -> ValueID {
    let value = value.converted(to: scalar(x))
    if let float = value.exactFloat {
      return try pad(x, before: before, after: after, mode: .constant(float), step: step)
    }
    let grown = zip(before, after).enumerated().filter { max($1.0, $1.1) > 0 }.map(\.offset)
    var result = try pad(
      x, before: before.map { min($0, 0) }, after: after.map { min($0, 0) }, mode: .edge,
      step: grown.isEmpty ? step : "cut")
    for axis in grown {
      func border(_ count: Int, _ side: String) throws -> [ValueID] {
        guard count > 0 else { return [] }
        var sizes = shape(result)
        sizes[axis] = count
        return [try fill(sizes, with: value, step: "\(side)_\(axis)")]
      }
      let parts = try border(before[axis], "before") + [result] + border(after[axis], "after")
      result = try concat(parts, axis: axis, step: axis == grown.last ? step : "axis_\(axis)")
    }
    return result
  }

  /// Returns a tensor filled with one value.
  package func fill(_ shape: Shape, with value: Tensor, step: String? = nil) throws -> ValueID {
    guard shape.rank <= Self.rankLimit else { throw invalid("a shape of \(shape.rank) dimensions") }
    let name = step.map { "\($0)_value" } ?? "value"
    return try add(Expand(shape), constant(Weight(value.reshaped(to: [])), step: name), step: step)
  }

  /// Returns the reduction of each single element.
  package func element(of function: Reduce.Function, _ x: ValueID) throws -> ValueID {
    switch function {
    case .l1, .l2: try unary(UnaryFunction(.abs), x)
    case .sumOfSquares: try unary(UnaryFunction(.square), x)
    case .logSum: try unary(UnaryFunction(.log), x)
    case .sum, .mean, .maximum, .minimum, .product, .logSumExp: x
    }
  }
}

extension Int {
  /// The number clamped so that `abs` does not overflow.
  fileprivate var clamped: Int { Swift.max(self, -Int.max) }
}

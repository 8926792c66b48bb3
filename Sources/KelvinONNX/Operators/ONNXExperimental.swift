import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Experimental operators of the first operator sets, which ONNX Runtime runs too.
  static let experimental: [ONNXMapper] = [
    affine, crop, dynamicSlice, imageScaler, parametricSoftplus, scale, scaledTanh,
  ]

  /// `α x + β`.
  private static let affine = ONNXMapper("Affine") { c in
    let function = UnaryFunction(.affine, a: c.float("alpha", default: 1), b: c.float("beta", default: 0))
    return [try c.emitter.unary(function, try c.input(0))]
  }

  /// `scale · x`.
  private static let scale = ONNXMapper("Scale") { c in
    [try c.emitter.unary(UnaryFunction(.affine, a: c.float("scale", default: 1)), try c.input(0))]
  }

  /// `α softplus(β x)`.
  private static let parametricSoftplus = ONNXMapper("ParametricSoftplus") { c in try c.scaled(.softplus) }

  /// `α tanh(β x)`.
  private static let scaledTanh = ONNXMapper("ScaledTanh") { c in try c.scaled(.tanh) }

  /// `scale · x + bias`, with a bias for each channel.
  private static let imageScaler = ONNXMapper("ImageScaler") { c in
    let x = try c.input(0)
    let bias = c.node.attributes["bias"]?.floats ?? []
    guard c.emitter.shape(x).rank == 4, bias.count == c.emitter.shape(x)[1] else {
      throw c.emitter.invalid("\(bias.count) numbers in bias for \(c.emitter.type(x)), expected one for each channel")
    }
    let scaled = try c.emitter.unary(UnaryFunction(.affine, a: c.float("scale", default: 1)), x, step: "scaled")
    let tensor = Tensor(bias, [bias.count, 1, 1]).converted(to: c.emitter.scalar(x))
    return [try c.emitter.binary(.add, scaled, c.emitter.constant(Weight(tensor), step: "bias"))]
  }

  /// Removes a border of an image, or keeps the given height and width from the upper left border on.
  private static let crop = ONNXMapper("Crop") { c in
    let x = try c.input(0)
    let shape = c.emitter.shape(x)
    guard shape.rank == 4, let border = c.integers("border"), border.count == 4,
      border.allSatisfy({ (0..<1 << 31).contains($0) })
    else {
      throw c.emitter.invalid("expected an image [N, C, H, W] and a border of 4 sizes, got \(c.emitter.type(x))")
    }
    let (left, top, right, bottom) = (border[0], border[1], border[2], border[3])
    let kept = c.integers("scale") ?? []
    guard kept.isEmpty || kept.count == 2 else {
      throw c.emitter.invalid("scale has \(kept.count) numbers, expected 2")
    }
    let rows = kept.first ?? shape[2] - top - bottom
    let columns = kept.last ?? shape[3] - left - right
    guard rows >= 0, columns >= 0, rows <= shape[2] - top, columns <= shape[3] - left else {
      throw c.emitter.invalid("a border of \(border) and a size of \(rows) x \(columns) for \(shape)")
    }
    var ranges = shape.dimensions.map { SliceRange(start: 0, count: $0) }
    ranges[2] = SliceRange(start: top, count: rows)
    ranges[3] = SliceRange(start: left, count: columns)
    return [try c.emitter.slice(x, ranges)]
  }

  private static let dynamicSlice = ONNXMapper("DynamicSlice", valueDependent: [1, 2, 3]) { c in
    try c.slice(
      starts: c.constantIntegers(1, "starts"), ends: c.constantIntegers(2, "ends"), axes: c.constantIntegers(3, "axes"))
  }
}

extension ONNXOperation {
  /// Returns `α f(β x)`; both factors are mandatory.
  fileprivate func scaled(_ function: UnaryFunction.Kind) throws -> [ValueID] {
    guard let alpha = node.attributes["alpha"]?.float, let beta = node.attributes["beta"]?.float else {
      throw emitter.invalid("has no alpha and beta")
    }
    let inner = try emitter.unary(UnaryFunction(.affine, a: beta), try input(0), step: "scaled")
    let value = try emitter.unary(UnaryFunction(function), inner, step: "value")
    return [try emitter.unary(UnaryFunction(.affine, a: alpha), value)]
  }
}

import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let reshape = ONNXMapper("Reshape", valueDependent: [1]) { c in
    let x = try c.input(0)
    guard let shape = try c.integers(attribute: "shape", orInput: 1) else { throw c.emitter.invalid("has no shape") }
    return [try c.emitter.reshape(x, requested: shape, zeros: c.flag("allowzero") ? .empty : .kept)]
  }

  static let flatten = ONNXMapper("Flatten") { c in
    let x = try c.input(0)
    let shape = c.emitter.shape(x)
    let requested = c.integer("axis", default: 1)
    let axis = requested == shape.rank ? shape.rank : try c.emitter.axis(requested, of: x)
    let sizes = [shape.dimensions[..<axis].reduce(1, *), shape.dimensions[axis...].reduce(1, *)]
    return [try c.emitter.reshape(x, Shape(sizes))]
  }

  static let squeeze = ONNXMapper("Squeeze", valueDependent: [1]) { c in
    let x = try c.input(0)
    let axes = try c.integers(attribute: "axes", orInput: 1)
    return [try c.emitter.squeeze(x, axes)]
  }

  static let unsqueeze = ONNXMapper("Unsqueeze", valueDependent: [1]) { c in
    let x = try c.input(0)
    guard let axes = try c.integers(attribute: "axes", orInput: 1) else { throw c.emitter.invalid("has no axes") }
    return [try c.emitter.expandDimensions(x, at: axes)]
  }

  static let transpose = ONNXMapper("Transpose") { c in
    let x = try c.input(0)
    let permutation = c.integers("perm") ?? Array((0..<c.emitter.shape(x).rank).reversed())
    return [try c.emitter.transpose(x, permutation)]
  }

  static let concat = ONNXMapper("Concat") { c in
    let values = try c.allInputs()
    guard let axis = c.node.attributes["axis"]?.integer else { throw c.emitter.invalid("has no axis") }
    return [try c.emitter.concat(values, axis: axis)]
  }

  /// Splits into parts. Their sizes are an attribute before operator set 13, then an input. Without sizes the parts are
  /// equal, except for a smaller last one if the axis is not divisible.
  static let split = ONNXMapper("Split", valueDependent: [1]) { c in
    let x = try c.input(0)
    let axis = try c.emitter.axis(c.integer("axis", default: 0), of: x)
    if let sizes = try c.integers(attribute: "split", orInput: 1) {
      guard sizes.count == c.node.outputs.count else {
        throw c.emitter.invalid("\(sizes.count) parts for \(c.node.outputs.count) outputs")
      }
      return try c.emitter.split(x, axis: axis, sizes: sizes)
    }
    let count = c.node.outputs.count
    let size = c.emitter.shape(x)[axis]
    guard count > 0, c.integer("num_outputs", default: count) == count else {
      throw c.emitter.invalid("num_outputs is \(c.integer("num_outputs", default: count)), it has \(count) outputs")
    }
    let part = (size + count - 1) / count
    let sizes = (0..<count).map { max(0, min(part, size - $0 * part)) }
    return try c.emitter.split(x, axis: axis, sizes: sizes)
  }

  static let expand = ONNXMapper("Expand", valueDependent: [1]) { c in
    let x = try c.input(0)
    guard let requested = try c.constantIntegers(1, "shape"), requested.count <= Emitter.rankLimit,
      let shape = c.emitter.shape(x).broadcast(with: Shape(requested))
    else { throw c.emitter.invalid("\(c.emitter.type(x)) does not broadcast to its shape") }
    return [shape == c.emitter.shape(x) ? x : try c.emitter.add(Expand(shape), x)]
  }

  static let tile = ONNXMapper("Tile", valueDependent: [1]) { c in
    let x = try c.input(0)
    guard let repeats = try c.constantIntegers(1, "repeats") else { throw c.emitter.invalid("has no repeats") }
    return [try c.emitter.tile(x, repeats)]
  }

  static let gather = ONNXMapper("Gather") { c in
    let (x, indices) = (try c.input(0), try c.input(1))
    return [try c.emitter.add(Gather(axis: c.emitter.axis(c.integer("axis", default: 0), of: x)), x, indices)]
  }

  static let cast = ONNXMapper("Cast") { c in
    let number = c.integer("to", default: 0)
    if let narrow = ONNXLowPrecisionType(rawValue: number) { return [try c.cast(to: narrow)] }
    guard let scalar = ScalarType(onnx: number) else { throw c.unsupported("casts to ONNX's type number \(number)") }
    return [try c.emitter.cast(try c.input(0), to: scalar)]
  }

  static let castLike = ONNXMapper("CastLike") { c in
    let (x, target) = (try c.input(0), try c.input(1))
    if let narrow = c.lowPrecisionType(1) { return [try c.cast(to: narrow)] }
    return [try c.emitter.cast(x, to: c.emitter.scalar(target))]
  }

  /// The identity at inference, and if the ratio is zero, with a mask of ones.
  static let dropout = ONNXMapper("Dropout", valueDependent: [2]) { c in
    let ratio = try c.optional(1).map { try c.emitter.number($0) } ?? 0.5
    if c.opset >= 12, let training = try c.constantNumber(2, "training mode"), training != 0, ratio != 0 {
      throw c.unsupported("it is in training mode", remedy: "export the model for inference")
    }
    let x = try c.input(0)
    guard c.node.outputs.dropFirst().contains(where: { !$0.isEmpty }) else { return [x] }
    let scalar: ScalarType = c.opset < 10 ? c.emitter.scalar(x) : .bool
    let kept = Tensor(TensorType(scalar, []), rounding: [1])
    return [x, try c.emitter.fill(c.emitter.shape(x), with: kept, step: "mask")]
  }
}

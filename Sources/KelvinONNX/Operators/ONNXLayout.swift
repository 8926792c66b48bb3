import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Operators that change the shape, the order or the type of elements.
  static let layout: [ONNXMapper] = [
    reshape, flatten, squeeze, unsqueeze, transpose, concat, split, expand, tile, gather, cast, castLike, dropout,
    slice, pad, depthToSpace, spaceToDepth,
  ]

  private static let reshape = ONNXMapper("Reshape", valueDependent: [1]) { c in
    let x = try c.input(0)
    guard let shape = try c.integers(attribute: "shape", orInput: 1) else { throw c.emitter.invalid("has no shape") }
    return [try c.emitter.reshape(x, requested: shape, zeros: c.flag("allowzero") ? .empty : .kept)]
  }

  private static let flatten = ONNXMapper("Flatten") { c in
    let x = try c.input(0)
    let shape = c.emitter.shape(x)
    let requested = c.integer("axis", default: 1)
    let axis = requested == shape.rank ? shape.rank : try c.emitter.axis(requested, of: x)
    let sizes = [shape.dimensions[..<axis].reduce(1, *), shape.dimensions[axis...].reduce(1, *)]
    return [try c.emitter.reshape(x, Shape(sizes))]
  }

  private static let squeeze = ONNXMapper("Squeeze", valueDependent: [1]) { c in
    let x = try c.input(0)
    let axes = try c.integers(attribute: "axes", orInput: 1)
    return [try c.emitter.squeeze(x, axes)]
  }

  private static let unsqueeze = ONNXMapper("Unsqueeze", valueDependent: [1]) { c in
    let x = try c.input(0)
    guard let axes = try c.integers(attribute: "axes", orInput: 1) else { throw c.emitter.invalid("has no axes") }
    return [try c.emitter.expandDimensions(x, at: axes)]
  }

  private static let transpose = ONNXMapper("Transpose") { c in
    let x = try c.input(0)
    let permutation = c.integers("perm") ?? Array((0..<c.emitter.shape(x).rank).reversed())
    return [try c.emitter.transpose(x, permutation)]
  }

  private static let concat = ONNXMapper("Concat") { c in
    let values = try c.allInputs()
    guard let axis = c.node.attributes["axis"]?.integer else { throw c.emitter.invalid("has no axis") }
    return [try c.emitter.concat(values, axis: axis)]
  }

  /// Splits into parts. Their sizes are an attribute before operator set 13, then an input. Without sizes the parts are
  /// equal, except for a smaller last one if the axis is not divisible.
  private static let split = ONNXMapper("Split", valueDependent: [1]) { c in
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

  private static let expand = ONNXMapper("Expand", valueDependent: [1]) { c in
    let x = try c.input(0)
    guard let requested = try c.constantIntegers(1, "shape"), requested.count <= Emitter.rankLimit,
      let shape = c.emitter.shape(x).broadcast(with: Shape(requested))
    else { throw c.emitter.invalid("\(c.emitter.type(x)) does not broadcast to its shape") }
    return [shape == c.emitter.shape(x) ? x : try c.emitter.add(Expand(shape), x)]
  }

  /// Repeats along every axis; before operator set 6, along one axis that an input names.
  private static let tile = ONNXMapper("Tile", valueDependent: [1, 2]) { c in
    let x = try c.input(0)
    if c.opset < 6 {
      guard let count = try c.constantNumber(1, "tiles"), let number = try c.constantNumber(2, "axis"),
        let tiles = Int(exactly: count), let place = Int(exactly: number)
      else { throw c.emitter.invalid("has no tiles and axis") }
      var repeats = [Int](repeating: 1, count: c.emitter.shape(x).rank)
      repeats[try c.emitter.axis(place, of: x)] = tiles
      return [try c.emitter.tile(x, repeats)]
    }
    guard let repeats = try c.constantIntegers(1, "repeats") else { throw c.emitter.invalid("has no repeats") }
    return [try c.emitter.tile(x, repeats)]
  }

  private static let gather = ONNXMapper("Gather") { c in
    let (x, indices) = (try c.input(0), try c.input(1))
    return [try c.emitter.add(Gather(axis: c.emitter.axis(c.integer("axis", default: 0), of: x)), x, indices)]
  }

  private static let cast = ONNXMapper("Cast") { c in
    let number = c.integer("to", default: 0)
    if let narrow = ONNXLowPrecisionType(rawValue: number) { return [try c.cast(to: narrow)] }
    guard let scalar = ScalarType(onnx: number) else { throw c.unsupported("casts to ONNX's type number \(number)") }
    return [try c.emitter.cast(try c.input(0), to: scalar)]
  }

  private static let castLike = ONNXMapper("CastLike") { c in
    let (x, target) = (try c.input(0), try c.input(1))
    if let narrow = c.lowPrecisionType(1) { return [try c.cast(to: narrow)] }
    return [try c.emitter.cast(x, to: c.emitter.scalar(target))]
  }

  /// The identity at inference, and if the ratio is zero, with a mask of ones.
  private static let dropout = ONNXMapper("Dropout", valueDependent: [2]) { c in
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

  /// A slice. Ranges are attributes before operator set 10 and inputs from then on.
  private static let slice = ONNXMapper("Slice", valueDependent: [1, 2, 3, 4]) { c in
    if c.opset < 10 {
      return try c.slice(starts: c.integers("starts"), ends: c.integers("ends"), axes: c.integers("axes"))
    }
    return try c.slice(
      starts: c.constantIntegers(1, "starts"), ends: c.constantIntegers(2, "ends"), axes: c.constantIntegers(3, "axes"),
      steps: c.constantIntegers(4, "steps"))
  }

  /// Pads. Amounts and value are attributes before operator set 11 and inputs from then on; axes are an input from 18
  /// on.
  private static let pad = ONNXMapper("Pad", valueDependent: [1, 2, 3]) { c in
    let x = try c.input(0)
    let rank = c.emitter.shape(x).rank
    guard let pads = try c.integers(attribute: "pads", orInput: 1) else { throw c.emitter.invalid("has no pads") }
    let axes = try c.constantIntegers(3, "axes") ?? Array(0..<rank)
    guard pads.count == 2 * axes.count else {
      throw c.emitter.invalid("\(pads.count) pads for \(axes.count) axes, expected \(2 * axes.count)")
    }
    _ = try c.emitter.axes(axes, of: x)
    var (before, after) = ([Int](repeating: 0, count: rank), [Int](repeating: 0, count: rank))
    for (index, axis) in axes.enumerated() {
      let place = try c.emitter.axis(axis, of: x)
      before[place] = pads[index]
      after[place] = pads[axes.count + index]
    }
    switch c.text("mode", default: "constant") {
    case "constant":
      let given = c.opset < 11 ? nil : try c.constantScalar(2, "value")
      let value = given ?? Tensor([c.opset < 11 ? c.float("value", default: 0) : 0], [])
      return [try c.emitter.pad(x, before: before, after: after, value: value)]
    case "reflect": return [try c.emitter.pad(x, before: before, after: after, mode: .reflect)]
    case "wrap": return [try c.emitter.wrap(x, before: before, after: after)]
    case "edge": return [try c.emitter.pad(x, before: before, after: after, mode: .edge)]
    case let other: throw c.unsupported("mode '\(other)'")
    }
  }

  private static let depthToSpace = ONNXMapper("DepthToSpace") { c in
    let x = try c.input(0)
    let isOuter = c.text("mode", default: "DCR") == "DCR"
    return [try c.emitter.depthToSpace(x, block: c.integer("blocksize", default: 0), blockIsOuter: isOuter)]
  }

  private static let spaceToDepth = ONNXMapper("SpaceToDepth") { c in
    let x = try c.input(0)
    let block = c.integer("blocksize", default: 0)
    let isOuter = c.text("mode", default: "DCR") == "DCR"
    return [isOuter ? try c.emitter.spaceToDepth(x, block: block) : try c.emitter.pixelUnshuffle(x, block: block)]
  }
}

extension ONNXOperation {
  /// Returns the slice of the first input within ranges along the given axes, by default the first ones.
  func slice(starts: [Int]?, ends: [Int]?, axes named: [Int]?, steps: [Int]? = nil) throws -> [ValueID] {
    let x = try input(0)
    let shape = emitter.shape(x)
    guard let starts, let ends else { throw emitter.invalid("has no starts and ends") }
    let axes = named ?? Array(starts.indices)
    guard ends.count == starts.count, axes.count == starts.count, steps?.count ?? starts.count == starts.count else {
      throw emitter.invalid("starts, ends, axes and steps differ in length")
    }
    _ = try emitter.axes(axes, of: x)
    var ranges = shape.dimensions.map { SliceRange(start: 0, count: $0) }
    for (index, axis) in axes.enumerated() {
      let place = try emitter.axis(axis, of: x)
      let step = steps?[index] ?? 1
      // A backward slice that starts before the first element is clamped to it; by NumPy's rule it would be empty.
      let start = step < 0 ? max(starts[index], -shape[place]) : starts[index]
      guard let range = SliceRange(start: start, end: ends[index], step: step, size: shape[place]) else {
        throw emitter.invalid("step \(step) along axis \(place)")
      }
      ranges[place] = range
    }
    return [try emitter.slice(x, ranges)]
  }
}

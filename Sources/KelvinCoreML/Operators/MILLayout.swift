import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Operations that change shapes or types, join or split.
  static let layout: [MILMapper] = [
    reshape, transpose, expandDims, squeeze, flatten2d, concat, stack, split, tile, cast, identity, shape, fill, pad,
    depthToSpace, pixelShuffle, spaceToDepth,
  ]

  private static let reshape = MILMapper("reshape", valueDependent: ["shape"]) { c in
    let x = try c.x
    let shape = try c.required("shape", c.integers)
    return try c.emitter.reshape(x, requested: shape, zeros: c.scope.version >= 17 ? .keptFromLast : .kept)
  }

  private static let transpose = MILMapper("transpose") { c in
    let x = try c.x
    let rank = c.emitter.shape(x).rank
    let named = try c.required("perm", c.integers)
    return try c.emitter.transpose(x, named.map { $0 < 0 ? $0 &+ rank : $0 })
  }

  private static let expandDims = MILMapper("expand_dims") { c in
    let x = try c.x
    let axes = try c.required("axes", c.integers)
    return try c.emitter.expandDimensions(x, at: axes)
  }

  private static let squeeze = MILMapper("squeeze") { c in try c.emitter.squeeze(c.x, c.integers("axes")) }

  private static let flatten2d = MILMapper("flatten2d") { c in
    let x = try c.x
    let shape = c.emitter.shape(x)
    let axis = try c.integer("axis") ?? 1
    let place = axis == shape.rank ? axis : try c.emitter.axis(axis, of: x)
    let sizes = [shape.dimensions[..<place].reduce(1, *), shape.dimensions[place...].reduce(1, *)]
    return try c.emitter.reshape(x, Shape(sizes))
  }

  /// Concatenates values. With `interleave`, their slices along the axis alternate. Scalars count as lists of one
  /// element, as coremltools writes them in computations of sizes.
  private static let concat = MILMapper("concat") { c in
    let values = try c.values("values").enumerated().map { index, value in
      c.emitter.shape(value).rank > 0 ? value : try c.emitter.reshape(value, [1], step: "number\(index)")
    }
    let axis = try c.required("axis", c.integer)
    guard try c.flag("interleave") else { return try c.emitter.concat(values, axis: axis) }
    return try c.emitter.interleave(values, axis: try c.emitter.axis(axis, of: values[0]))
  }

  private static let stack = MILMapper("stack") { c in
    let values = try c.values("values")
    let axis = try c.required("axis", c.integer)
    return try c.emitter.stack(values, axis: axis)
  }

  private static let split = MILMapper(several: "split") { c in
    let x = try c.x
    let named = try c.required("axis", c.integer)
    let axis = try c.emitter.axis(named, of: x)
    let count = c.outputs.count
    let size = c.emitter.shape(x)[axis]
    if let sizes = try c.integers("split_sizes") {
      guard sizes.count == count else { throw c.emitter.invalid("\(sizes.count) parts for \(count) outputs") }
      return try c.emitter.split(x, axis: axis, sizes: sizes)
    }
    guard try c.integer("num_splits") ?? count == count, count > 0, size % count == 0 else {
      throw c.emitter.invalid("axis \(axis) of \(c.emitter.type(x)) does not split into \(count) equal parts")
    }
    return try c.emitter.split(x, axis: axis, sizes: [Int](repeating: size / count, count: count))
  }

  private static let tile = MILMapper("tile", valueDependent: ["reps"]) { c in
    let x = try c.x
    return try c.emitter.tile(x, try c.required("reps", c.integers))
  }

  private static let cast = MILMapper("cast") { c in
    let x = try c.x
    let name = try c.required("dtype", c.text)
    guard let scalar = ScalarType(milName: name) else { throw c.emitter.invalid("casts to unknown type '\(name)'") }
    return try c.emitter.cast(x, to: scalar)
  }

  private static let identity = MILMapper("identity") { c in try c.x }

  private static let shape = MILMapper("shape", readsOnlyShapes: true) { c in
    let sizes = c.emitter.shape(try c.x).dimensions
    return c.emitter.constant(integers: sizes, .int32)
  }

  private static let fill = MILMapper("fill", valueDependent: ["shape", "value"]) { c in
    let sizes = try c.required("shape", c.integers)
    return try c.emitter.fill(Shape(sizes), with: try c.fillValue())
  }

  /// Pads the last axes by amounts before and after, axis by axis.
  private static let pad = MILMapper("pad", valueDependent: ["pad"]) { c in
    let x = try c.x
    let rank = c.emitter.shape(x).rank
    let pads = try c.required("pad", c.integers)
    guard pads.count % 2 == 0, pads.count <= 2 * rank else {
      throw c.emitter.invalid("\(pads.count) pads for \(c.emitter.type(x))")
    }
    let untouched = [Int](repeating: 0, count: rank - pads.count / 2)
    let pairs = stride(from: 0, to: pads.count, by: 2)
    let (before, after) = (untouched + pairs.map { pads[$0] }, untouched + pairs.map { pads[$0 + 1] })
    switch try c.text("mode") ?? "constant" {
    case "constant":
      let value = try c.scalar("constant_val") ?? Tensor([Float(0)], [])
      return try c.emitter.pad(x, before: before, after: after, value: value)
    case "reflect": return try c.emitter.pad(x, before: before, after: after, mode: .reflect)
    case "replicate": return try c.emitter.pad(x, before: before, after: after, mode: .edge)
    case let other: throw c.emitter.invalid("mode '\(other)' is not known")
    }
  }

  private static let depthToSpace = MILMapper("depth_to_space") { c in
    let x = try c.x
    let block = try c.required("block_size", c.integer)
    return try c.emitter.depthToSpace(x, block: block, blockIsOuter: true)
  }

  private static let pixelShuffle = MILMapper("pixel_shuffle") { c in
    let x = try c.x
    let block = try c.required("upscale_factor", c.integer)
    return try c.emitter.depthToSpace(x, block: block, blockIsOuter: false)
  }

  private static let spaceToDepth = MILMapper("space_to_depth") { c in
    let x = try c.x
    let block = try c.required("block_size", c.integer)
    return try c.emitter.spaceToDepth(x, block: block)
  }
}

extension MILContext {
  /// Returns the value that `fill` and `fill_like` repeat, in the type of their result.
  func fillValue() throws -> Tensor {
    let value = try scalar("value") ?? Tensor([Float(0)], [])
    return value.converted(to: declaredScalar ?? value.type.scalar)
  }
}

import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Layers that change the shape of planes, or join and cut them.
  static let planeShapes: [LayerMapper] = [
    flatten, reshape, permute, concat, split, slice, sequenceRepeat, reshapeStatic, loadConstant,
  ]

  /// Flattens to `[…, C·H·W, 1, 1]`, with the channels outermost or innermost.
  private static let flatten = LayerMapper(Layers.flatten) { c in
    typealias Fields = LayerSchema.FlattenLayerParams
    let x = try c.input(0)
    let shape = try c.planeShape(x)
    let length = shape.dimensions.dropFirst().reduce(1, *)
    var blob = x
    if try c.integer(Fields.mode) == Fields.FlattenOrder.channelLast {
      blob.id = try c.emitter.transpose(try c.planes(x), [0, 2, 3, 1], step: "channels_last")
    }
    return Blob(try c.view(blob, [shape[0], length]), Shape(c.lead(x) + [length, 1, 1]))
  }

  /// Reshapes to `[C, H, W]`, optionally with a new sequence length in front. During the reshape the channels are
  /// outermost or innermost.
  private static let reshape = LayerMapper(Layers.reshape) { c in
    typealias Fields = LayerSchema.ReshapeLayerParams
    let x = try c.input(0)
    let target = try c.integers(Fields.targetShape)
    guard [3, 4].contains(target.count), target.allSatisfy({ (1..<(1 << 31)).contains($0) }),
      Shape(target).isAddressable
    else { throw c.emitter.invalid("a target shape of \(target), expected 3 or 4 sizes") }
    var lead = c.lead(x)
    if target.count == 4 {
      if lead.isEmpty { lead = [1] }
      lead[0] = target[0]
    }
    let sizes = Array(target.suffix(3))
    let result = Shape(lead + sizes)
    guard result.isAddressable, result.count == x.shape.count else {
      throw c.emitter.invalidSizes("\(x.shape) cannot be reshaped to \(Shape(target))")
    }
    let batch = lead.reduce(1, *)
    if try c.integer(Fields.mode) == Fields.ReshapeOrder.channelFirst {
      return Blob(try c.view(x, Shape([batch] + sizes)), result)
    }
    let last = try c.emitter.transpose(try c.planes(x), [0, 2, 3, 1], step: "channels_last")
    let shaped = try c.emitter.reshape(last, Shape([batch, sizes[1], sizes[2], sizes[0]]), step: "shaped")
    return Blob(try c.emitter.transpose(shaped, [0, 3, 1, 2]), result)
  }

  /// Permutes sequence, channel, height and width; the batch axis stays.
  private static let permute = LayerMapper(Layers.permute) { c in
    let x = try c.input(0)
    let axes = try c.integers(LayerSchema.PermuteLayerParams.axis)
    if axes.isEmpty { return x }
    guard axes.sorted() == [0, 1, 2, 3], x.shape.rank == 4 || x.shape.rank == 5 else {
      throw c.emitter.invalid("permutes \(axes) of \(x.shape), expected a permutation of 0 to 3 and 5 axes")
    }
    if axes[0] == 0 { return c.fromPlanes(try c.emitter.transpose(try c.planes(x), axes), x) }
    let five = x.shape.rank == 5 ? x.shape : Shape([1] + x.shape.dimensions)
    let places = [0, 2, 3, 4]
    let full = [places[axes[0]], 1] + axes.dropFirst().map { places[$0] }
    let moved = try c.emitter.transpose(try c.view(x, five), full)
    return Blob(moved, c.emitter.shape(moved))
  }

  private static let concat = LayerMapper(Layers.concat) { c in
    let inputs = try c.allInputs()
    if try c.flag(LayerSchema.ConcatLayerParams.sequenceConcat) {
      let joined = try c.emitter.concat(try inputs.map { try c.logical($0) }, axis: -5)
      return Blob(joined, c.emitter.shape(joined))
    }
    guard inputs.allSatisfy({ c.lead($0) == c.lead(inputs[0]) }) else {
      throw c.emitter.invalid("inputs differ in their batch axes")
    }
    let values = try inputs.map { try c.planes($0) }
    return c.fromPlanes(try c.emitter.concat(values, axis: 1), inputs[0])
  }

  /// Splits the channels into equal parts.
  private static let split = LayerMapper(several: Layers.split) { c in
    let x = try c.input(0)
    let planes = try c.planes(x)
    let (channels, count) = (c.emitter.shape(planes)[1], c.outputs.count)
    guard count > 0, channels % count == 0 else {
      throw c.emitter.invalid("\(channels) channels do not split into \(count) equal parts")
    }
    let parts = try c.emitter.split(planes, axis: 1, sizes: [Int](repeating: channels / count, count: count))
    return parts.map { c.fromPlanes($0, x) }
  }

  private static let slice = LayerMapper(Layers.slice) { c in
    typealias Fields = LayerSchema.SliceLayerParams
    let x = try c.input(0)
    let axis = try c.integer(Fields.axis) - 3
    guard (-3...(-1)).contains(axis), x.shape.rank >= -axis else {
      throw c.emitter.invalid("slices an axis that \(x.shape) does not have")
    }
    let place = x.shape.rank + axis
    guard
      let range = SliceRange(
        start: try c.integer(Fields.startIndex), end: try c.integer(Fields.endIndex),
        step: try c.integer(Fields.stride, default: 1), size: x.shape[place]), range.count > 0
    else { throw c.emitter.invalid("takes nothing of \(x.shape)") }
    if x.shape.rank >= 3 { return c.fromPlanes(try c.emitter.slice(try c.planes(x), axis: 4 + axis, range), x) }
    let result = try c.emitter.slice(try c.logical(x), axis: place, range)
    return Blob(result, c.emitter.shape(result))
  }

  private static let sequenceRepeat = LayerMapper(Layers.sequenceRepeat) { c in
    let x = try c.input(0)
    guard x.shape.rank >= 5 else { throw c.emitter.invalid("expected 5 axes, got \(x.shape)") }
    let count = try c.integer(LayerSchema.SequenceRepeatLayerParams.nRepetitions, default: 1)
    var repeats = [Int](repeating: 1, count: x.shape.rank)
    repeats[x.shape.rank - 5] = count
    let result = try c.emitter.tile(try c.logical(x), repeats)
    return Blob(result, c.emitter.shape(result))
  }

  private static let reshapeStatic = LayerMapper(Layers.reshapeStatic) { c in
    let target = try c.integers(LayerSchema.ReshapeStaticLayerParams.targetShape)
    return try c.reshape(try c.raw(0), target)
  }

  private static let loadConstant = LayerMapper(Layers.loadConstant) { c in
    typealias Fields = LayerSchema.LoadConstantLayerParams
    let sizes = try c.integers(Fields.shape, limit: 8)
    guard sizes.count == 3 else { throw c.emitter.invalid("a shape of \(sizes), expected 3 sizes") }
    let weight = try c.weights(Fields.data).weight(Shape([1] + sizes))
    return Blob(c.emitter.constant(weight), Shape([1, 1] + sizes))
  }
}

extension LayerContext {
  /// Reshapes by a list of sizes. One of them may be -1, which takes the remaining elements.
  func reshape(_ x: Blob, _ requested: [Int], zeros: Emitter.ZeroSize = .empty) throws -> Blob {
    guard requested.count <= Emitter.rankLimit else { throw emitter.invalid("a shape of \(requested.count) sizes") }
    let id = try emitter.reshape(try logical(x), requested: requested, zeros: zeros)
    return Blob(id, emitter.shape(id))
  }
}

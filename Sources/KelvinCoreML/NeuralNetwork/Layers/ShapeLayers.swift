import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  /// Flattens to `[…, C·H·W, 1, 1]`, with the channels outermost or innermost.
  static let flatten = LayerMapper(Layers.flatten) { layer, scope in
    typealias Fields = LayerSchema.FlattenLayerParams
    let x = try layer.input(0, scope)
    let shape = try scope.planeShape(x)
    let length = shape.dimensions.dropFirst().reduce(1, *)
    var blob = x
    if try layer.parameters.integer(Fields.mode) ?? 0 == Fields.FlattenOrder.channelLast {
      blob.id = try scope.emitter.transpose(try scope.planes(x), [0, 2, 3, 1], step: "channels_last")
    }
    return Blob(try scope.view(blob, [shape[0], length]), Shape(scope.lead(x) + [length, 1, 1]))
  }

  /// Reshapes to `[C, H, W]`, optionally with a new sequence length in front. During the reshape the channels are
  /// outermost or innermost.
  static let reshape = LayerMapper(Layers.reshape) { layer, scope in
    typealias Fields = LayerSchema.ReshapeLayerParams
    let x = try layer.input(0, scope)
    let target = try layer.parameters.integers(Fields.targetShape)
    guard [3, 4].contains(target.count), target.allSatisfy({ (1..<(1 << 31)).contains($0) }),
      Shape(target).isAddressable
    else { throw scope.emitter.invalid("a target shape of \(target), expected 3 or 4 sizes") }
    var lead = scope.lead(x)
    if target.count == 4 {
      if lead.isEmpty { lead = [1] }
      lead[0] = target[0]
    }
    let sizes = Array(target.suffix(3))
    let result = Shape(lead + sizes)
    guard result.isAddressable, result.count == x.shape.count else {
      throw scope.emitter.invalidSizes("\(x.shape) cannot be reshaped to \(Shape(target))")
    }
    let batch = lead.reduce(1, *)
    if try layer.parameters.integer(Fields.mode) ?? 0 == Fields.ReshapeOrder.channelFirst {
      return Blob(try scope.view(x, Shape([batch] + sizes)), result)
    }
    let last = try scope.emitter.transpose(try scope.planes(x), [0, 2, 3, 1], step: "channels_last")
    let shaped = try scope.emitter.reshape(last, Shape([batch, sizes[1], sizes[2], sizes[0]]), step: "shaped")
    return Blob(try scope.emitter.transpose(shaped, [0, 3, 1, 2]), result)
  }

  /// Permutes sequence, channel, height and width; the batch axis stays.
  static let permute = LayerMapper(Layers.permute) { layer, scope in
    let x = try layer.input(0, scope)
    let axes = try layer.parameters.integers(LayerSchema.PermuteLayerParams.axis)
    if axes.isEmpty { return x }
    guard axes.sorted() == [0, 1, 2, 3], x.shape.rank == 4 || x.shape.rank == 5 else {
      throw scope.emitter.invalid("permutes \(axes) of \(x.shape), expected a permutation of 0 to 3 and 5 axes")
    }
    if axes[0] == 0 { return scope.fromPlanes(try scope.emitter.transpose(try scope.planes(x), axes), x) }
    let five = x.shape.rank == 5 ? x.shape : Shape([1] + x.shape.dimensions)
    let places = [0, 2, 3, 4]
    let full = [places[axes[0]], 1] + axes.dropFirst().map { places[$0] }
    let moved = try scope.emitter.transpose(try scope.view(x, five), full)
    return Blob(moved, scope.emitter.shape(moved))
  }

  static let concat = LayerMapper(Layers.concat) { layer, scope in
    let inputs = try layer.allInputs(scope)
    if try layer.parameters.flag(LayerSchema.ConcatLayerParams.sequenceConcat) {
      let values = try inputs.map { try scope.logical($0) }
      let joined = try scope.emitter.concat(values, axis: -5)
      return Blob(joined, scope.emitter.shape(joined))
    }
    guard inputs.allSatisfy({ scope.lead($0) == scope.lead(inputs[0]) }) else {
      throw scope.emitter.invalid("inputs differ in their batch axes")
    }
    let values = try inputs.map { try scope.planes($0) }
    return scope.fromPlanes(try scope.emitter.concat(values, axis: 1), inputs[0])
  }

  /// Splits the channels into equal parts.
  static let split = LayerMapper(several: Layers.split) { layer, scope in
    let x = try layer.input(0, scope)
    let planes = try scope.planes(x)
    let (channels, count) = (scope.emitter.shape(planes)[1], layer.outputs.count)
    guard count > 0, channels % count == 0 else {
      throw scope.emitter.invalid("\(channels) channels do not split into \(count) equal parts")
    }
    let parts = try scope.emitter.split(
      planes, axis: 1, sizes: [Int](repeating: channels / count, count: count))
    return parts.map { scope.fromPlanes($0, x) }
  }

  static let slice = LayerMapper(Layers.slice) { layer, scope in
    typealias Fields = LayerSchema.SliceLayerParams
    let x = try layer.input(0, scope)
    let axis = (try layer.parameters.integer(Fields.axis) ?? 0) - 3
    guard (-3...(-1)).contains(axis), x.shape.rank >= -axis else {
      throw scope.emitter.invalid("slices an axis that \(x.shape) does not have")
    }
    let place = x.shape.rank + axis
    guard
      let range = SliceRange(
        start: try layer.parameters.integer(Fields.startIndex) ?? 0,
        end: try layer.parameters.integer(Fields.endIndex) ?? 0,
        step: try layer.parameters.integer(Fields.stride, default: 1), size: x.shape[place]), range.count > 0
    else { throw scope.emitter.invalid("takes nothing of \(x.shape)") }
    var ranges = x.shape.dimensions.map { SliceRange(start: 0, count: $0) }
    ranges[place] = range
    if x.shape.rank >= 3 {
      let whole = SliceRange(start: 0, count: try scope.planeShape(x)[0])
      return scope.fromPlanes(
        try scope.emitter.slice(try scope.planes(x), [whole] + ranges.suffix(3)), x)
    }
    let result = try scope.emitter.slice(try scope.logical(x), ranges)
    return Blob(result, scope.emitter.shape(result))
  }

  static let sequenceRepeat = LayerMapper(Layers.sequenceRepeat) { layer, scope in
    let x = try layer.input(0, scope)
    guard x.shape.rank >= 5 else { throw scope.emitter.invalid("expected 5 axes, got \(x.shape)") }
    let count = try layer.parameters.integer(LayerSchema.SequenceRepeatLayerParams.nRepetitions, default: 1)
    var repeats = [Int](repeating: 1, count: x.shape.rank)
    repeats[x.shape.rank - 5] = count
    let result = try scope.emitter.tile(try scope.logical(x), repeats)
    return Blob(result, scope.emitter.shape(result))
  }

  static let reshapeStatic = LayerMapper(Layers.reshapeStatic) { layer, scope in
    let target = try layer.parameters.integers(LayerSchema.ReshapeStaticLayerParams.targetShape)
    return try scope.reshape(try layer.raw(0, scope), target)
  }

  static let loadConstant = LayerMapper(Layers.loadConstant) { layer, scope in
    typealias Fields = LayerSchema.LoadConstantLayerParams
    let sizes = try layer.parameters.integers(Fields.shape, limit: 8)
    guard sizes.count == 3 else { throw scope.emitter.invalid("a shape of \(sizes), expected 3 sizes") }
    let weight = try layer.weights(Fields.data, scope).weight(Shape([1] + sizes))
    return Blob(scope.emitter.constant(weight), Shape([1, 1] + sizes))
  }
}

extension LayerScope {
  /// Reshapes by a list of sizes. One of them may be -1, which takes the remaining elements.
  func reshape(_ x: Blob, _ requested: [Int], zeros: Emitter.ZeroSize = .empty) throws -> Blob {
    guard requested.count <= Emitter.rankLimit else { throw emitter.invalid("a shape of \(requested.count) sizes") }
    let id = try emitter.reshape(try logical(x), requested: requested, zeros: zeros)
    return Blob(id, emitter.shape(id))
  }
}

import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  /// Layers that join, cut, repeat or pad tensors along any axis.
  static let joining: [LayerMapper] = [
    concatND, splitND, stack, tile, reverse, reverseSeq, sliceStatic, sliceDynamic, sliceBySize, constantPad,
    band(Layers.matrixBandPart) { layer in
      typealias Fields = LayerSchema.MatrixBandPartLayerParams
      let lower = try layer.parameters.integer(Fields.numLower) ?? 0
      let upper = try layer.parameters.integer(Fields.numUpper) ?? 0
      return (lower < 0 ? nil : -lower, upper < 0 ? nil : upper)
    },
    band(Layers.lowerTriangular) { layer in
      (nil, try layer.parameters.integer(LayerSchema.LowerTriangularLayerParams.k) ?? 0)
    },
    band(Layers.upperTriangular) { layer in
      (try layer.parameters.integer(LayerSchema.UpperTriangularLayerParams.k) ?? 0, nil)
    },
  ]

  /// Concatenates the inputs. With `interleave`, their slices along the axis alternate.
  private static let concatND = LayerMapper(Layers.concatND) { layer, scope in
    typealias Fields = LayerSchema.ConcatNDLayerParams
    var values: [ValueID] = []
    for input in try layer.allInputs(scope) { values.append(try scope.logical(input)) }
    let axis = try scope.emitter.axis(try layer.parameters.integer(Fields.axis) ?? 0, of: values[0])
    guard try layer.parameters.flag(Fields.interleave) else {
      return scope.ranked(try scope.emitter.concat(values, axis: axis))
    }
    var sizes = scope.emitter.shape(values[0]).dimensions
    var raised: [ValueID] = []
    for value in values {
      guard scope.emitter.shape(value).dimensions == sizes else {
        throw scope.emitter.invalid("interleaved inputs must have equal shapes")
      }
      var shape = sizes
      shape.insert(1, at: axis + 1)
      raised.append(try scope.emitter.reshape(value, Shape(shape), step: "raised"))
    }
    let joined = try scope.emitter.concat(raised, axis: axis + 1, step: "joined")
    sizes[axis] *= values.count
    return scope.ranked(try scope.emitter.reshape(joined, Shape(sizes)))
  }

  private static let splitND = LayerMapper(several: Layers.splitND) { layer, scope in
    typealias Fields = LayerSchema.SplitNDLayerParams
    let value = try scope.logical(try layer.raw(0, scope))
    let axis = try scope.emitter.axis(try layer.parameters.integer(Fields.axis) ?? 0, of: value)
    var sizes = try layer.parameters.integers(Fields.splitSizes)
    if sizes.isEmpty {
      let (length, count) = (scope.emitter.shape(value)[axis], layer.outputs.count)
      guard count > 0 else { throw scope.emitter.invalid("it has no outputs") }
      // If the parts cannot be equal, the first ones are larger by one, like those of NumPy's array_split.
      sizes = (0..<count).map { length / count + ($0 < length % count ? 1 : 0) }
    }
    return try scope.emitter.split(value, axis: axis, sizes: sizes).map { scope.ranked($0) }
  }

  private static let stack = LayerMapper(Layers.stack) { layer, scope in
    var values: [ValueID] = []
    for input in try layer.allInputs(scope) { values.append(try scope.logical(input)) }
    let axis = try layer.parameters.integer(LayerSchema.StackLayerParams.axis) ?? 0
    return scope.ranked(try scope.emitter.stack(values, axis: axis))
  }

  private static let tile = LayerMapper(Layers.tile, valueDependent: [1]) { layer, scope in
    let value = try scope.logical(try layer.raw(0, scope))
    let repeats =
      layer.inputs.count > 1
      ? try layer.knownIntegers(1, scope) : try layer.parameters.integers(LayerSchema.TileLayerParams.reps)
    return scope.ranked(try scope.emitter.tile(value, repeats))
  }

  private static let reverse = LayerMapper(Layers.reverse) { layer, scope in
    let value = try scope.logical(try layer.raw(0, scope))
    let flags = try layer.parameters.flags(LayerSchema.ReverseLayerParams.reverseDim)
    guard flags.count == scope.emitter.shape(value).rank else {
      throw scope.emitter.invalid("\(flags.count) flags for \(scope.emitter.type(value))")
    }
    return scope.ranked(try scope.emitter.reverse(value, flags.indices.filter { flags[$0] }))
  }

  /// Reverses the first elements of each sequence; the second input gives their number.
  private static let reverseSeq = LayerMapper(Layers.reverseSeq) { layer, scope in
    typealias Fields = LayerSchema.ReverseSeqLayerParams
    let value = try scope.logical(try layer.input(0, scope))
    let lengths = try layer.indices(1, scope)
    let axis = try scope.emitter.axis(try layer.parameters.integer(Fields.sequenceAxis) ?? 0, of: value)
    let batch = try scope.emitter.axis(try layer.parameters.integer(Fields.batchAxis) ?? 0, of: value)
    return scope.ranked(
      try scope.emitter.reverse(
        value, lengths: try scope.view(lengths, [lengths.shape.count]), axis: axis, batchAxis: batch))
  }

  private static let sliceStatic = LayerMapper(Layers.sliceStatic) { layer, scope in
    typealias Fields = LayerSchema.SliceStaticLayerParams
    let request = SliceRequest(
      begin: try layer.parameters.integers(Fields.beginIds), end: try layer.parameters.integers(Fields.endIds),
      strides: try layer.parameters.integers(Fields.strides),
      beginMasks: try layer.parameters.flags(Fields.beginMasks), endMasks: try layer.parameters.flags(Fields.endMasks),
      squeezeMasks: try layer.parameters.flags(Fields.squeezeMasks))
    return try scope.slice(try layer.raw(0, scope), request)
  }

  /// Slices by inputs: begin, end, strides and masks after the data. All but the begin may be parameters instead.
  private static let sliceDynamic = LayerMapper(Layers.sliceDynamic, valueDependent: [1, 2, 3, 4, 5, 6]) {
    layer, scope in
    typealias Fields = LayerSchema.SliceDynamicLayerParams
    func list(_ input: Int, _ field: Int) throws -> [Int] {
      layer.inputs.count > input ? try layer.knownIntegers(input, scope) : try layer.parameters.integers(field)
    }
    let x = try layer.raw(0, scope)
    let request = SliceRequest(
      begin: try layer.knownIntegers(1, scope), end: try list(2, Fields.endIds), strides: try list(3, Fields.strides),
      beginMasks: try list(4, Fields.beginMasks).map { $0 != 0 },
      endMasks: try list(5, Fields.endMasks).map { $0 != 0 },
      squeezeMasks: try list(6, Fields.squeezeMasks).map { $0 != 0 })
    return try scope.slice(x, request)
  }

  /// Takes a number of elements along an axis, beginning at the position in the second input. The number is a
  /// parameter.
  private static let sliceBySize = LayerMapper(Layers.sliceBySize, valueDependent: [1]) { layer, scope in
    typealias Fields = LayerSchema.SliceBySizeLayerParams
    let value = try scope.logical(try layer.raw(0, scope))
    let shape = scope.emitter.shape(value)
    let axis = try scope.emitter.axis(try layer.parameters.integer(Fields.axis) ?? 0, of: value)
    let size = try layer.parameters.integer(Fields.size) ?? 0
    let start = try layer.knownIntegers(1, scope).first ?? 0
    guard size > 0, size <= shape[axis], (0...(shape[axis] - size)).contains(start) else {
      throw scope.emitter.invalid("\(size) elements from \(start) are not in axis \(axis) of \(shape)")
    }
    var ranges = shape.dimensions.map { SliceRange(start: 0, count: $0) }
    ranges[axis] = SliceRange(start: start, count: size)
    return scope.ranked(try scope.emitter.slice(value, ranges))
  }

  /// Pads each axis by amounts before and after, or up to the given sizes, on the side that has a nonzero amount.
  private static let constantPad = LayerMapper(Layers.constantPad, valueDependent: [1]) { layer, scope in
    typealias Fields = LayerSchema.ConstantPaddingLayerParams
    let value = try scope.logical(try layer.input(0, scope))
    let shape = scope.emitter.shape(value)
    var amounts =
      layer.inputs.count > 1
      ? try layer.knownIntegers(1, scope) : try layer.parameters.integers(Fields.padAmounts)
    guard amounts.count == 2 * shape.rank else {
      throw scope.emitter.invalid("\(amounts.count) amounts, expected \(2 * shape.rank)")
    }
    if try layer.parameters.flag(Fields.padToGivenOutputSizeMode) {
      for index in amounts.indices where amounts[index] != 0 { amounts[index] &-= shape[index / 2] }
    }
    let before = (0..<shape.rank).map { amounts[2 * $0] }
    let after = (0..<shape.rank).map { amounts[2 * $0 + 1] }
    let mode = Pad.Mode.constant(try layer.parameters.number(Fields.value) ?? 0)
    return scope.ranked(try scope.emitter.pad(value, before: before, after: after, mode: mode))
  }

  /// Keeps a band of each matrix and sets the other elements to zero.
  private static func band(
    _ number: Int, _ bounds: @escaping @Sendable (NetworkLayer) throws -> (lower: Int?, upper: Int?)
  ) -> LayerMapper {
    LayerMapper(number) { layer, scope in
      let value = try scope.logical(try layer.input(0, scope))
      let (lower, upper) = try bounds(layer)
      return scope.ranked(try scope.emitter.band(value, lower: lower, upper: upper))
    }
  }
}

/// The parameters of a slice layer: entries for each axis, some of which a mask disables.
private struct SliceRequest {
  var begin: [Int]
  var end: [Int]
  var strides: [Int]
  var beginMasks: [Bool]
  var endMasks: [Bool]
  var squeezeMasks: [Bool]
}

extension LayerScope {
  fileprivate func slice(_ x: Blob, _ request: SliceRequest) throws -> Blob {
    let rank = x.shape.rank
    guard request.begin.count >= rank, request.end.count >= rank else {
      throw emitter.invalid("\(request.begin.count) begins and \(request.end.count) ends for \(x.shape)")
    }
    func flag(_ list: [Bool], _ axis: Int) -> Bool { axis < list.count && list[axis] }
    var ranges: [SliceRange] = []
    var kept: [Int] = []
    for axis in 0..<rank {
      let stride = axis < request.strides.count ? request.strides[axis] : 1
      var range = SliceRange(
        start: flag(request.beginMasks, axis) ? nil : request.begin[axis],
        end: flag(request.endMasks, axis) ? nil : request.end[axis], step: stride, size: x.shape[axis])
      if flag(request.squeezeMasks, axis) {
        let start = request.begin[axis] < 0 ? request.begin[axis] &+ x.shape[axis] : request.begin[axis]
        guard (0..<x.shape[axis]).contains(start) else {
          throw emitter.invalid("position \(start) is not in axis \(axis) of \(x.shape)")
        }
        range = SliceRange(start: start, count: 1)
      }
      guard let range, range.count > 0 else { throw emitter.invalid("takes nothing of axis \(axis) of \(x.shape)") }
      ranges.append(range)
      if !flag(request.squeezeMasks, axis) { kept.append(range.count) }
    }
    let value = try logical(x)
    let squeezes = kept.count < rank
    let result = try emitter.slice(value, ranges, step: squeezes ? "cut" : nil)
    return ranked(squeezes ? try emitter.reshape(result, Shape(kept)) : result)
  }
}

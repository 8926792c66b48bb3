import KelvinGraph
import KelvinImport

extension LayerMapper {
  /// Layers that join, cut, repeat or pad tensors along any axis.
  static let joining: [LayerMapper] = [
    concatND, splitND, stack, tile, reverse, reverseSeq, sliceStatic, sliceDynamic, sliceBySize, constantPad,
    band(Layers.matrixBandPart) { c in
      typealias Fields = LayerSchema.MatrixBandPartLayerParams
      let lower = try c.integer(Fields.numLower)
      let upper = try c.integer(Fields.numUpper)
      return (lower < 0 ? nil : -lower, upper < 0 ? nil : upper)
    },
    band(Layers.lowerTriangular) { c in (nil, try c.integer(LayerSchema.LowerTriangularLayerParams.k)) },
    band(Layers.upperTriangular) { c in (try c.integer(LayerSchema.UpperTriangularLayerParams.k), nil) },
  ]

  /// Concatenates the inputs. With `interleave`, their slices along the axis alternate.
  private static let concatND = LayerMapper(Layers.concatND) { c in
    typealias Fields = LayerSchema.ConcatNDLayerParams
    let values = try c.allLogical()
    let axis = try c.axis(Fields.axis, of: values[0])
    guard try c.flag(Fields.interleave) else { return c.ranked(try c.emitter.concat(values, axis: axis)) }
    return c.ranked(try c.emitter.interleave(values, axis: axis))
  }

  private static let splitND = LayerMapper(several: Layers.splitND) { c in
    typealias Fields = LayerSchema.SplitNDLayerParams
    let value = try c.rawLogical(0)
    let axis = try c.axis(Fields.axis, of: value)
    var sizes = try c.integers(Fields.splitSizes)
    if sizes.isEmpty {
      let (length, count) = (c.emitter.shape(value)[axis], c.outputs.count)
      guard count > 0 else { throw c.emitter.invalid("it has no outputs") }
      // If the parts cannot be equal, the first ones are larger by one, like those of NumPy's array_split.
      sizes = (0..<count).map { length / count + ($0 < length % count ? 1 : 0) }
    }
    return try c.emitter.split(value, axis: axis, sizes: sizes).map { c.ranked($0) }
  }

  private static let stack = LayerMapper(Layers.stack) { c in
    let values = try c.allLogical()
    let axis = try c.integer(LayerSchema.StackLayerParams.axis)
    return c.ranked(try c.emitter.stack(values, axis: axis))
  }

  private static let tile = LayerMapper(Layers.tile, valueDependent: [1]) { c in
    let value = try c.rawLogical(0)
    let repeats = c.inputs.count > 1 ? try c.knownIntegers(1) : try c.integers(LayerSchema.TileLayerParams.reps)
    return c.ranked(try c.emitter.tile(value, repeats))
  }

  private static let reverse = LayerMapper(Layers.reverse) { c in
    let value = try c.rawLogical(0)
    let flags = try c.flags(LayerSchema.ReverseLayerParams.reverseDim)
    guard flags.count == c.emitter.shape(value).rank else {
      throw c.emitter.invalid("\(flags.count) flags for \(c.emitter.type(value))")
    }
    return c.ranked(try c.emitter.reverse(value, flags.indices.filter { flags[$0] }))
  }

  /// Reverses the first elements of each sequence; the second input gives their number.
  private static let reverseSeq = LayerMapper(Layers.reverseSeq) { c in
    typealias Fields = LayerSchema.ReverseSeqLayerParams
    let value = try c.logical(0)
    let lengths = try c.indices(1)
    let axis = try c.axis(Fields.sequenceAxis, of: value)
    let batch = try c.axis(Fields.batchAxis, of: value)
    let counts = try c.view(lengths, [lengths.shape.count])
    return c.ranked(try c.emitter.reverse(value, lengths: counts, axis: axis, batchAxis: batch))
  }

  private static let sliceStatic = LayerMapper(Layers.sliceStatic) { c in
    typealias Fields = LayerSchema.SliceStaticLayerParams
    let request = SliceRequest(
      begin: try c.integers(Fields.beginIds), end: try c.integers(Fields.endIds),
      strides: try c.integers(Fields.strides), beginMasks: try c.flags(Fields.beginMasks),
      endMasks: try c.flags(Fields.endMasks), squeezeMasks: try c.flags(Fields.squeezeMasks))
    return try c.slice(try c.raw(0), request)
  }

  /// Slices by inputs: begin, end, strides and masks after the data. All but the begin may be parameters instead.
  private static let sliceDynamic = LayerMapper(Layers.sliceDynamic, valueDependent: [1, 2, 3, 4, 5, 6]) { c in
    typealias Fields = LayerSchema.SliceDynamicLayerParams
    func list(_ input: Int, _ field: Int) throws -> [Int] {
      c.inputs.count > input ? try c.knownIntegers(input) : try c.integers(field)
    }
    let x = try c.raw(0)
    let request = SliceRequest(
      begin: try c.knownIntegers(1), end: try list(2, Fields.endIds), strides: try list(3, Fields.strides),
      beginMasks: try list(4, Fields.beginMasks).map { $0 != 0 },
      endMasks: try list(5, Fields.endMasks).map { $0 != 0 },
      squeezeMasks: try list(6, Fields.squeezeMasks).map { $0 != 0 })
    return try c.slice(x, request)
  }

  /// Takes a number of elements along an axis, beginning at the position in the second input. The number is a
  /// parameter.
  private static let sliceBySize = LayerMapper(Layers.sliceBySize, valueDependent: [1]) { c in
    typealias Fields = LayerSchema.SliceBySizeLayerParams
    let value = try c.rawLogical(0)
    let shape = c.emitter.shape(value)
    let axis = try c.axis(Fields.axis, of: value)
    let size = try c.integer(Fields.size)
    let start = try c.knownIntegers(1).first ?? 0
    guard size > 0, size <= shape[axis], (0...(shape[axis] - size)).contains(start) else {
      throw c.emitter.invalid("\(size) elements from \(start) are not in axis \(axis) of \(shape)")
    }
    return c.ranked(try c.emitter.slice(value, axis: axis, SliceRange(start: start, count: size)))
  }

  /// Pads each axis by amounts before and after, or up to the given sizes, on the side that has a nonzero amount.
  private static let constantPad = LayerMapper(Layers.constantPad, valueDependent: [1]) { c in
    typealias Fields = LayerSchema.ConstantPaddingLayerParams
    let value = try c.logical(0)
    let shape = c.emitter.shape(value)
    var amounts = c.inputs.count > 1 ? try c.knownIntegers(1) : try c.integers(Fields.padAmounts)
    guard amounts.count == 2 * shape.rank else {
      throw c.emitter.invalid("\(amounts.count) amounts, expected \(2 * shape.rank)")
    }
    if try c.flag(Fields.padToGivenOutputSizeMode) {
      for index in amounts.indices where amounts[index] != 0 { amounts[index] &-= shape[index / 2] }
    }
    let before = (0..<shape.rank).map { amounts[2 * $0] }
    let after = (0..<shape.rank).map { amounts[2 * $0 + 1] }
    let mode = Pad.Mode.constant(try c.number(Fields.value))
    return c.ranked(try c.emitter.pad(value, before: before, after: after, mode: mode))
  }

  /// Keeps a band of each matrix and sets the other elements to zero.
  private static func band(
    _ number: Int, _ bounds: @escaping @Sendable (LayerContext) throws -> (lower: Int?, upper: Int?)
  ) -> LayerMapper {
    LayerMapper(number) { c in
      let value = try c.logical(0)
      let (lower, upper) = try bounds(c)
      return c.ranked(try c.emitter.band(value, lower: lower, upper: upper))
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

extension LayerContext {
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

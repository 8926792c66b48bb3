import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Operations that move, cut or create elements without regard to their values.
  static let rearranging: [MILMapper] = [
    bandPart, batchToSpace, crop, fillLike, pixelUnshuffle, range1d, reshapeLike, reverse, reverseSequence,
    slidingWindows, spaceToBatch,
  ]

  /// Keeps `lower` diagonals below and `upper` above the main diagonal; a negative number keeps all.
  private static let bandPart = MILMapper("band_part") { operation, scope in
    let x = try operation.value("x", scope)
    let lower = try operation.integer("lower", scope) ?? -1
    let upper = try operation.integer("upper", scope) ?? -1
    return try scope.emitter.band(x, lower: lower < 0 ? nil : -lower, upper: upper < 0 ? nil : upper)
  }

  private static let spaceToBatch = MILMapper("space_to_batch") { operation, scope in
    let x = try operation.value("x", scope)
    let block = try operation.required(try operation.integers("block_shape", scope), "block_shape", scope)
    let pads = try operation.required(try operation.integers("paddings", scope), "paddings", scope)
    guard pads.count == 4 else { throw scope.emitter.invalid("\(pads.count) paddings, expected 2 x 2") }
    let before = [0, 0, pads[0], pads[2]]
    let after = [0, 0, pads[1], pads[3]]
    let isPadded = pads.contains { $0 != 0 }
    let padded =
      isPadded ? try scope.emitter.pad(x, before: before, after: after, mode: .constant(0), step: "padded") : x
    return try scope.emitter.spaceToBatch(padded, block: block)
  }

  private static let batchToSpace = MILMapper("batch_to_space") { operation, scope in
    let x = try operation.value("x", scope)
    let block = try operation.required(try operation.integers("block_shape", scope), "block_shape", scope)
    let crops = try operation.required(try operation.integers("crops", scope), "crops", scope)
    guard crops.count == 4, crops.allSatisfy({ (0..<(1 << 31)).contains($0) }) else {
      throw scope.emitter.invalid("crops \(crops), expected 2 x 2")
    }
    let isCropped = crops.contains { $0 != 0 }
    let space = try scope.emitter.batchToSpace(x, block: block, step: isCropped ? "uncropped" : nil)
    return try scope.emitter.crop(space, rows: Array(crops[..<2]), columns: Array(crops[2...]))
  }

  private static let crop = MILMapper("crop") { operation, scope in
    let x = try operation.value("x", scope)
    let rows = try operation.required(try operation.integers("crop_height", scope), "crop_height", scope)
    let columns = try operation.required(try operation.integers("crop_width", scope), "crop_width", scope)
    return try scope.emitter.crop(x, rows: rows, columns: columns)
  }

  private static let fillLike = MILMapper("fill_like", valueDependent: ["value"]) { operation, scope in
    let shape = scope.emitter.shape(try operation.value("ref_tensor", scope))
    return try scope.emitter.fill(shape, with: try operation.fillValue(scope))
  }

  private static let pixelUnshuffle = MILMapper("pixel_unshuffle") { operation, scope in
    let x = try operation.value("x", scope)
    let block = try operation.required(try operation.integer("downscale_factor", scope), "downscale_factor", scope)
    return try scope.emitter.pixelUnshuffle(x, block: block)
  }

  private static let range1d = MILMapper("range_1d", valueDependent: ["start", "end", "step"]) { operation, scope in
    let bounds = try ["start", "end", "step"].map {
      try operation.required(try operation.scalar($0, scope), $0, scope)
    }
    return try scope.emitter.range(from: bounds[0], to: bounds[1], by: bounds[2])
  }

  /// Reshapes to sizes that are parts of other tensors' shapes.
  private static let reshapeLike = MILMapper("reshape_like") { operation, scope in
    let x = try operation.value("x", scope)
    let references = try operation.values("ref_tensors", scope)
    let begins = try operation.listedIntegers("begins", scope)
    let ends = try operation.listedIntegers("ends", scope)
    let masks = try operation.listedIntegers("end_masks", scope)
    guard [begins, ends, masks].allSatisfy({ $0.count == references.count }) else {
      throw scope.emitter.invalid("begins, ends and end_masks do not fit \(references.count) tensors")
    }
    var sizes: [Int] = []
    for (index, reference) in references.enumerated() {
      let source = scope.emitter.shape(reference).dimensions
      let end = masks[index] != 0 ? nil : ends[index]
      guard let range = SliceRange(start: begins[index], end: end, step: 1, size: source.count) else { continue }
      sizes += source[range.start..<(range.start + range.count)]
    }
    return try scope.emitter.reshape(x, Shape(sizes))
  }

  private static let reverse = MILMapper("reverse") { operation, scope in
    let x = try operation.value("x", scope)
    let named = try operation.integers("axes", scope)
    let axes = try named.map { try scope.emitter.axes($0, of: x) } ?? Array(0..<scope.emitter.shape(x).rank)
    return try scope.emitter.reverse(x, axes)
  }

  private static let reverseSequence = MILMapper("reverse_sequence") { operation, scope in
    let x = try operation.value("x", scope)
    let lengths = try operation.value("lengths", scope)
    let axis = try scope.emitter.axis(try operation.integer("seq_axis", scope) ?? 0, of: x)
    let batchAxis = try scope.emitter.axis(try operation.integer("batch_axis", scope) ?? 0, of: x)
    return try scope.emitter.reverse(x, lengths: lengths, axis: axis, batchAxis: batchAxis)
  }

  /// Extracts every window of `size` elements, `stride` apart, along a new axis after the one that it was taken from.
  private static let slidingWindows = MILMapper("sliding_windows") { operation, scope in
    let x = try operation.value("x", scope)
    let named = try operation.required(try operation.integer("axis", scope), "axis", scope)
    let axis = try scope.emitter.axis(named, of: x)
    let size = try operation.required(try operation.integer("size", scope), "size", scope)
    let stride = try operation.integer("stride", scope) ?? 1
    let length = scope.emitter.shape(x)[axis]
    guard (1...max(length, 1)).contains(size), length > 0, stride > 0 else {
      throw scope.emitter.invalid("windows of \(size) by \(stride) on \(length) elements")
    }
    let count = (length - size) / stride + 1
    let type = TensorType(.int32, [count, size])
    guard type.shape.isAddressable else { throw scope.emitter.invalid("\(count) windows of \(size) are too many") }
    let positions = scope.emitter.constant(
      Weight(type) {
        Tensor(type, rounding: (0..<type.count).map { Double($0 / size * stride + $0 % size) })
      }, step: "positions")
    return try scope.emitter.add(Gather(axis: axis), x, positions)
  }
}

extension MILOperation {
  /// Returns a tuple of constant integers.
  fileprivate func listedIntegers(_ input: String, _ scope: MILScope) throws -> [Int] {
    try values(input, scope).flatMap { id in
      guard let values = try scope.emitter.integers(id) else {
        throw scope.emitter.invalid("'\(input)' depends on the model's inputs, expected constants")
      }
      return values
    }
  }
}

extension Emitter {
  /// Removes elements from both ends of the last two axes.
  fileprivate func crop(_ x: ValueID, rows: [Int], columns: [Int]) throws -> ValueID {
    let source = shape(x)
    guard source.rank >= 2, rows.count == 2, columns.count == 2,
      (rows + columns).allSatisfy({ (0..<(1 << 31)).contains($0) })
    else { throw invalid("crops \(type(x)) by \(rows) and \(columns)") }
    var ranges = source.dimensions.map { SliceRange(start: 0, count: $0) }
    for (axis, cut) in [(source.rank - 2, rows), (source.rank - 1, columns)] {
      let count = source[axis] - cut[0] - cut[1]
      guard count > 0 else { throw invalid("nothing is left of axis \(axis) of \(type(x))") }
      ranges[axis] = SliceRange(start: cut[0], count: count)
    }
    return try slice(x, ranges)
  }
}

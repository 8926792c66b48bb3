import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Operations that move, cut or create elements without regard to their values.
  static let rearranging: [MILMapper] = [
    bandPart, batchToSpace, crop, fillLike, pixelUnshuffle, range1d, reshapeLike, reverse, reverseSequence,
    slidingWindows, spaceToBatch,
  ]

  /// Keeps `lower` diagonals below and `upper` above the main diagonal; a negative number keeps all.
  private static let bandPart = MILMapper("band_part") { c in
    let x = try c.x
    let lower = try c.integer("lower") ?? -1
    let upper = try c.integer("upper") ?? -1
    return try c.emitter.band(x, lower: lower < 0 ? nil : -lower, upper: upper < 0 ? nil : upper)
  }

  private static let spaceToBatch = MILMapper("space_to_batch") { c in
    let x = try c.x
    let block = try c.required("block_shape", c.integers)
    let pads = try c.required("paddings", c.integers)
    guard pads.count == 4 else { throw c.emitter.invalid("\(pads.count) paddings, expected 2 x 2") }
    let before = [0, 0, pads[0], pads[2]]
    let after = [0, 0, pads[1], pads[3]]
    let isPadded = pads.contains { $0 != 0 }
    let padded = isPadded ? try c.emitter.pad(x, before: before, after: after, mode: .constant(0), step: "padded") : x
    return try c.emitter.spaceToBatch(padded, block: block)
  }

  private static let batchToSpace = MILMapper("batch_to_space") { c in
    let x = try c.x
    let block = try c.required("block_shape", c.integers)
    let crops = try c.required("crops", c.integers)
    guard crops.count == 4, crops.allSatisfy({ (0..<(1 << 31)).contains($0) }) else {
      throw c.emitter.invalid("crops \(crops), expected 2 x 2")
    }
    let isCropped = crops.contains { $0 != 0 }
    let space = try c.emitter.batchToSpace(x, block: block, step: isCropped ? "uncropped" : nil)
    return try c.emitter.crop(space, rows: Array(crops[..<2]), columns: Array(crops[2...]))
  }

  private static let crop = MILMapper("crop") { c in
    let x = try c.x
    let rows = try c.required("crop_height", c.integers)
    let columns = try c.required("crop_width", c.integers)
    return try c.emitter.crop(x, rows: rows, columns: columns)
  }

  private static let fillLike = MILMapper("fill_like", valueDependent: ["value"]) { c in
    let shape = c.emitter.shape(try c.value("ref_tensor"))
    return try c.emitter.fill(shape, with: try c.fillValue())
  }

  private static let pixelUnshuffle = MILMapper("pixel_unshuffle") { c in
    let x = try c.x
    let block = try c.required("downscale_factor", c.integer)
    return try c.emitter.pixelUnshuffle(x, block: block)
  }

  private static let range1d = MILMapper("range_1d", valueDependent: ["start", "end", "step"]) { c in
    let bounds = try ["start", "end", "step"].map {
      try c.required($0, c.scalar)
    }
    return try c.emitter.range(from: bounds[0], to: bounds[1], by: bounds[2])
  }

  /// Reshapes to sizes that are parts of other tensors' shapes.
  private static let reshapeLike = MILMapper("reshape_like") { c in
    let x = try c.x
    let references = try c.values("ref_tensors")
    let begins = try c.listedIntegers("begins")
    let ends = try c.listedIntegers("ends")
    let masks = try c.listedIntegers("end_masks")
    guard [begins, ends, masks].allSatisfy({ $0.count == references.count }) else {
      throw c.emitter.invalid("begins, ends and end_masks do not fit \(references.count) tensors")
    }
    var sizes: [Int] = []
    for (index, reference) in references.enumerated() {
      let source = c.emitter.shape(reference).dimensions
      let end = masks[index] != 0 ? nil : ends[index]
      guard let range = SliceRange(start: begins[index], end: end, step: 1, size: source.count) else { continue }
      sizes += source[range.start..<(range.start + range.count)]
    }
    return try c.emitter.reshape(x, Shape(sizes))
  }

  private static let reverse = MILMapper("reverse") { c in
    let x = try c.x
    let named = try c.integers("axes")
    let axes = try named.map { try c.emitter.axes($0, of: x) } ?? Array(0..<c.emitter.shape(x).rank)
    return try c.emitter.reverse(x, axes)
  }

  private static let reverseSequence = MILMapper("reverse_sequence") { c in
    let (x, lengths) = (try c.x, try c.value("lengths"))
    let axis = try c.axis("seq_axis", default: 0, of: x)
    let batchAxis = try c.axis("batch_axis", default: 0, of: x)
    return try c.emitter.reverse(x, lengths: lengths, axis: axis, batchAxis: batchAxis)
  }

  /// Extracts every window of `size` elements, `stride` apart, along a new axis after the one that it was taken from.
  private static let slidingWindows = MILMapper("sliding_windows") { c in
    let x = try c.x
    let named = try c.required("axis", c.integer)
    let axis = try c.emitter.axis(named, of: x)
    let size = try c.required("size", c.integer)
    let stride = try c.integer("stride") ?? 1
    let length = c.emitter.shape(x)[axis]
    guard (1...max(length, 1)).contains(size), length > 0, stride > 0 else {
      throw c.emitter.invalid("windows of \(size) by \(stride) on \(length) elements")
    }
    let count = (length - size) / stride + 1
    let type = TensorType(.int32, [count, size])
    guard type.shape.isAddressable else { throw c.emitter.invalid("\(count) windows of \(size) are too many") }
    let positions = c.emitter.constant(
      Weight(type) {
        Tensor(type, rounding: (0..<type.count).map { Double($0 / size * stride + $0 % size) })
      }, step: "positions")
    return try c.emitter.add(Gather(axis: axis), x, positions)
  }
}

extension MILContext {
  /// Returns a tuple of constant integers.
  fileprivate func listedIntegers(_ input: String) throws -> [Int] {
    try values(input).flatMap { id in
      guard let values = try emitter.integers(id) else {
        throw emitter.invalid("'\(input)' depends on the model's inputs, expected constants")
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

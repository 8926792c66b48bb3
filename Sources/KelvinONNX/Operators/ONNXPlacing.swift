import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Operators that move elements to other positions.
  static let placing: [ONNXMapper] = [affineGrid, centerCropPad, col2Im, maxUnpool, tensorScatter]

  /// Returns the position of each pixel of a transformed image, `[N, C, spatial…]`, in the original image, from -1 to 1
  /// along each axis, with the last axis of the image first.
  private static let affineGrid = ONNXMapper("AffineGrid", valueDependent: [1]) { c in
    let theta = try c.input(0)
    guard let size = try c.constantIntegers(1, "size"), (4...5).contains(size.count), Shape(size).isAddressable,
      c.emitter.shape(theta).dimensions == [size[0], size.count - 2, size.count - 1]
    else { throw c.emitter.invalid("\(c.emitter.type(theta)) is not an affine transformation for its size") }
    let spatial = Array(size[2...])
    let (rank, columns) = (spatial.count, size[size.count - 1])
    let alignsCorners = c.flag("align_corners")
    @Sendable func coordinate(_ place: Int, of size: Int) -> Double {
      let corner = size == 1 ? -1 : 2 * Double(place) / Double(size - 1) - 1
      return alignsCorners ? corner : Double(2 * place + 1) / Double(size) - 1
    }
    // Positions are sums over the axes. The last axis and the offset give one row of sums; each other axis gives a row of
    // its column of theta, which is multiplied by its coordinates.
    let rows = try c.emitter.table(c.emitter.scalar(theta), [rank * columns, rank + 1], step: "rows") {
      (0..<rank).flatMap { row in
        (0..<columns).flatMap { column -> [Double] in
          var factors = [Double](repeating: 0, count: rank + 1)
          if row == 0 { (factors[0], factors[rank]) = (coordinate(column, of: columns), 1) } else { factors[row] = 1 }
          return factors
        }
      }
    }
    let parts = try c.emitter.add(MatMul(transposesY: true), rows, theta, step: "parts")
    let count = spatial.dropLast().reduce(1, *)
    let others = try c.emitter.table(c.emitter.scalar(theta), [count, rank], step: "others") {
      let strides = Shape(Array(spatial.dropLast())).strides
      return (0..<count).flatMap { place in
        [1] + strides.indices.reversed().map { coordinate(place / strides[$0] % spatial[$0], of: spatial[$0]) }
      }
    }
    let terms = try c.emitter.reshape(parts, [size[0], rank, columns * rank], step: "terms")
    let points = try c.emitter.add(MatMul(), others, terms, step: "points")
    return [try c.emitter.reshape(points, Shape([size[0]] + spatial + [rank]))]
  }

  private static let centerCropPad = ONNXMapper("CenterCropPad", valueDependent: [1]) { c in
    let x = try c.input(0)
    let rank = c.emitter.shape(x).rank
    guard let sizes = try c.constantIntegers(1, "shape") else { throw c.emitter.invalid("has no shape") }
    let axes = try (c.integers("axes") ?? Array(0..<rank)).map { try c.emitter.axis($0, of: x) }
    guard axes.count == sizes.count, Set(axes).count == axes.count, Shape(sizes).isAddressable else {
      throw c.emitter.invalid("sizes \(sizes) for axes \(axes)")
    }
    var (before, after) = ([Int](repeating: 0, count: rank), [Int](repeating: 0, count: rank))
    for (axis, size) in zip(axes, sizes) {
      let missing = size - c.emitter.shape(x)[axis]
      before[axis] = missing / 2
      after[axis] = missing - missing / 2
    }
    return [try c.emitter.pad(x, before: before, after: after, mode: .constant(0))]
  }

  /// Adds overlapping blocks: `[N, C · block, blocks]` become images `[N, C, spatial…]`.
  private static let col2Im = ONNXMapper("Col2Im", valueDependent: [1, 2]) { c in
    let isTruth = c.emitter.scalar(try c.input(0)) == .bool
    // For booleans the sum tells whether any is true.
    let x = isTruth ? try c.emitter.cast(try c.input(0), to: .int32, step: "counts") : try c.input(0)
    let source = c.emitter.shape(x)
    guard let image = try c.constantIntegers(1, "image"), let block = try c.constantIntegers(2, "block"),
      !image.isEmpty, block.count == image.count
    else { throw c.emitter.invalid("has no shapes of image and block") }
    let axes = image.indices
    let steps = c.integers("strides") ?? axes.map { _ in 1 }
    let dilations = c.integers("dilations") ?? axes.map { _ in 1 }
    let pads = c.integers("pads") ?? axes.flatMap { _ in [0, 0] }
    let isSound =
      steps.count == axes.count && dilations.count == axes.count && pads.count == 2 * axes.count
      && (image + block + steps + dilations + pads).allSatisfy { (0..<(1 << 31)).contains($0) }
      && (block + steps + dilations).allSatisfy { $0 > 0 }
    guard isSound else { throw c.emitter.invalid("blocks \(block), strides \(steps), pads \(pads) of \(image)") }
    let padded = axes.map { image[$0] + pads[$0] + pads[axes.count + $0] }
    let counts = axes.map { max(0, (padded[$0] - dilations[$0] * (block[$0] - 1) - 1) / steps[$0] + 1) }
    guard Shape(block + counts).isAddressable, Shape(padded).isAddressable, source.rank == 3,
      source[1] % Shape(block).count == 0, source[2] == Shape(counts).count
    else { throw c.emitter.invalid("\(c.emitter.type(x)) is not blocks \(block) of \(image)") }
    let channels = source[1] / Shape(block).count
    let ranges =
      [SliceRange(start: 0, count: source[0]), SliceRange(start: 0, count: channels)]
      + axes.map { SliceRange(start: image[$0] == 0 ? 0 : pads[$0], count: image[$0]) }
    func cropped(_ whole: ValueID) throws -> ValueID {
      guard isTruth else { return try c.emitter.slice(whole, ranges) }
      return try c.emitter.cast(try c.emitter.slice(whole, ranges, step: "image"), to: .bool)
    }
    // Devices without a kernel add the elements of a block one by one; indices of all elements are better for many.
    if block.count <= 3, block.reduce(0, +) <= 64, !counts.contains(0) {
      let blocks = OverlapAdd(
        image: image, block: block, strides: steps, dilations: dilations, before: Array(pads[..<axes.count]),
        after: Array(pads[axes.count...]))
      guard isTruth else { return [try c.emitter.add(blocks, x)] }
      return [try c.emitter.cast(try c.emitter.add(blocks, x, step: "sums"), to: .bool)]
    }
    // The position of each element of each block in the padded image.
    let elements = Shape(block + counts).count
    let places = try c.emitter.table(.int64, [1, 1, elements], step: "element_places") {
      let (inBlock, blocks, strides) = (Shape(block).strides, Shape(counts).strides, Shape(padded).strides)
      return (0..<Shape(block).count).flatMap { element in
        (0..<Shape(counts).count).map { number in
          let place = axes.reduce(0) { place, axis in
            let offset = element / inBlock[axis] % block[axis] * dilations[axis]
            return place + (number / blocks[axis] % counts[axis] * steps[axis] + offset) * strides[axis]
          }
          return Double(place)
        }
      }
    }
    let updates: Shape = [source[0], channels, elements]
    let indices = try c.emitter.add(Expand(updates), places, step: "places")
    let zeros = c.emitter.zeros(
      TensorType(c.emitter.scalar(x), [source[0], channels, Shape(padded).count]), step: "nothing")
    let sums = try c.emitter.add(
      ScatterElements(axis: 2, reduction: .add), zeros, indices, c.emitter.reshape(x, updates, step: "elements"),
      step: "sums")
    let whole = try c.emitter.reshape(sums, Shape([source[0], channels] + padded), step: "padded_image")
    return [try cropped(whole)]
  }

  /// Writes elements to the positions in the whole tensor that pooling found, and zeros elsewhere.
  private static let maxUnpool = ONNXMapper("MaxUnpool", valueDependent: [2]) { c in
    let (x, indices) = (try c.input(0), try c.input(1))
    let source = c.emitter.shape(x)
    let axes = max(source.rank - 2, 0)
    guard let kernel = c.integers("kernel_shape"), kernel.count == axes, axes > 0, c.emitter.shape(indices) == source
    else { throw c.emitter.invalid("\(c.emitter.type(x)) does not have the axes of its kernel") }
    let steps = c.integers("strides") ?? kernel.map { _ in 1 }
    let pads = c.integers("pads") ?? kernel.flatMap { _ in [0, 0] }
    guard steps.count == axes, pads.count == 2 * axes,
      (kernel + steps + pads + source.dimensions).allSatisfy({ (0..<(1 << 31)).contains($0) })
    else { throw c.emitter.invalid("kernel \(kernel), strides \(steps), pads \(pads)") }
    let sizes = (0..<axes).map { (source[2 + $0] - 1) * steps[$0] - pads[$0] - pads[axes + $0] + kernel[$0] }
    let whole = Shape(source.dimensions.prefix(2) + sizes)
    guard whole.isAddressable else { throw c.emitter.invalid("a result of \(whole)") }
    let flat: Shape = [source.count]
    let placed = try c.emitter.add(
      ScatterElements(axis: 0, reduction: .replace),
      c.emitter.add(Expand([whole.count]), c.emitter.constant(0, c.emitter.scalar(x), step: "zero"), step: "nothing"),
      c.emitter.reshape(indices, flat, step: "places"), c.emitter.reshape(x, flat, step: "elements"), step: "placed")
    let result = try c.emitter.reshape(placed, whole, step: "whole")
    guard let requested = try c.constantIntegers(2, "output shape") else { return [result] }
    guard requested.count == whole.rank, Shape(requested).isAddressable else {
      throw c.emitter.invalid("output shape \(requested) of \(whole)")
    }
    let after = zip(requested, whole.dimensions).map { $0 - $1 }
    return [try c.emitter.pad(result, before: after.map { _ in 0 }, after: after, mode: .constant(0))]
  }

  /// Writes new rows along an axis of a cache, from a position of each sample on, optionally wrapping around the end.
  private static let tensorScatter = ONNXMapper("TensorScatter") { c in
    let (cache, update) = (try c.input(0), try c.input(1))
    let axis = try c.emitter.axis(c.integer("axis", default: -2), of: cache)
    let (whole, new) = (c.emitter.shape(cache), c.emitter.shape(update))
    guard axis > 0, new.rank == whole.rank, new[axis] <= whole[axis],
      (0..<new.rank).allSatisfy({ $0 == axis || new[$0] == whole[$0] })
    else { throw c.emitter.invalid("\(c.emitter.type(update)) does not fit \(c.emitter.type(cache))") }
    var places = try c.emitter.table(.int64, [1, new[axis]], step: "rows") { (0..<new[axis]).map(Double.init) }
    if let starts = c.optional(2) {
      let wide = try c.emitter.cast(starts, to: .int64, step: "starts")
      places = try c.emitter.binary(
        .add, c.emitter.reshape(wide, [whole[0], 1], step: "start_column"), places, step: "places")
    }
    switch c.text("mode", default: "linear") {
    case "linear": break
    case "circular":
      places = try c.emitter.binary(
        .modulo, places, c.emitter.constant(integers: [whole[axis]], shape: []), step: "places_around")
    case let other: throw c.emitter.invalid("mode '\(other)' is not known")
    }
    var sizes = [Int](repeating: 1, count: new.rank)
    (sizes[0], sizes[axis]) = (c.emitter.shape(places)[0], new[axis])
    let indices = try c.emitter.add(
      Expand(new), c.emitter.reshape(places, Shape(sizes), step: "along_axis"), step: "indices")
    return [try c.emitter.add(ScatterElements(axis: axis, reduction: .replace), cache, indices, update)]
  }
}

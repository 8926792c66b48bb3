import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Pools the largest elements of parts of boxes `[R, 5]` (image, then x and y of the first and of the last pixel):
  /// `[R, C, height, width]`.
  ///
  /// Corners are rounded to pixels, half up. Part `i` of `n` is `floor(i · s / n)..<ceil((i + 1) · s / n)` of a box of
  /// `s ≥ 1` pixels, clipped to the image. An empty part is 0.
  static let maxRoiPool = ONNXMapper("MaxRoiPool") { c in
    let (x, boxes) = (try c.input(0), try c.input(1))
    let (source, count) = (c.emitter.shape(x), c.emitter.shape(boxes).dimensions.first ?? 0)
    guard let targets = c.integers("pooled_shape"), targets.count == 2,
      targets.allSatisfy({ (1...(1 << 12)).contains($0) }), source.rank == 4,
      c.emitter.shape(boxes).dimensions == [count, 5], source[2] > 0, source[3] > 0
    else { throw c.emitter.invalid("boxes \(c.emitter.type(boxes)) of \(c.emitter.type(x))") }
    let pool = BoxPool(
      emitter: c.emitter, images: x, source: source, boxes: boxes, scale: c.float("spatial_scale", default: 1))
    let depth = c.emitter.depth
    let row = TensorType(c.emitter.scalar(x), [source[1], targets[0], targets[1]])
    let region = try c.emitter.region(.body) {
      let number = try c.emitter.input("\(c.node.name)/box", TensorType(.int64, []))
      return [try pool.result(of: number, targets, depth: depth)]
    }
    let limit = c.emitter.constant(integers: [count], .int64, shape: [])
    return try c.loop(region, limit: limit, condition: nil, [], [row])
  }
}

/// Pools one box after another.
private struct BoxPool {
  let emitter: Emitter
  /// The images, a value of the graph around the loop, like the boxes.
  let images: ValueID
  let source: Shape
  let boxes: ValueID
  let scale: Float

  /// Returns `[C, height, width]` for the box with an index.
  func result(of number: ValueID, _ targets: [Int], depth: Int) throws -> ValueID {
    let box = try emitter.cast(
      try emitter.add(Gather(axis: 0), emitter.value(boxes, of: depth), number, step: "numbers"), to: .float32,
      step: "wide_numbers")
    let place = try emitter.cast(try part(box, 0, "image_number"), to: .int64, step: "image_place")
    let image = try emitter.add(
      Gather(axis: 0), emitter.value(images, of: depth), emitter.reshape(place, [], step: "image_index"), step: "image")
    let scalar = emitter.scalar(image)
    let least = emitter.constant(-.infinity, scalar, step: "least")
    // Columns first: [C, H, width], then rows.
    let columns = try mask(box, axis: 1, size: source[3], targets[1])
    let wide = try emitter.reshape(image, [source[1], source[2], 1, source[3]], step: "by_columns")
    let kept = try emitter.add(
      Select(), [try emitter.reshape(columns, [1, 1, targets[1], source[3]], step: "column_mask"), wide, least],
      step: "kept_columns")
    let narrow = try emitter.add(Reduce(.maximum, axes: [3], keepsDimensions: false), kept, step: "largest_of_columns")
    let turned = try emitter.transpose(narrow, [0, 2, 1], step: "turned")
    let tall = try emitter.reshape(turned, [source[1], 1, targets[1], source[2]], step: "by_rows")
    let rows = try mask(box, axis: 0, size: source[2], targets[0])
    let both = try emitter.add(
      Select(), [try emitter.reshape(rows, [1, targets[0], 1, source[2]], step: "row_mask"), tall, least],
      step: "kept_rows")
    let largest = try emitter.add(Reduce(.maximum, axes: [3], keepsDimensions: false), both, step: "largest")
    let isEmpty = try emitter.add(
      Compare(.equal), [try filled(columns, rows, targets), emitter.constant(0, .float32, step: "nothing")],
      step: "is_empty")
    return try emitter.add(Select(), [isEmpty, emitter.constant(0, scalar, step: "zero"), largest], step: "pooled")
  }

  /// Returns the number of pixels in each part, `[1, height, width]`.
  private func filled(_ columns: ValueID, _ rows: ValueID, _ targets: [Int]) throws -> ValueID {
    func counts(_ mask: ValueID, _ shape: Shape, _ name: String) throws -> ValueID {
      let numbers = try emitter.cast(mask, to: .float32, step: "\(name)_in")
      return try emitter.reshape(
        try emitter.add(Reduce(.sum, axes: [1], keepsDimensions: false), numbers, step: "\(name)_count"), shape,
        step: "\(name)_counts")
    }
    return try emitter.binary(
      .multiply, counts(rows, [1, targets[0], 1], "rows"), counts(columns, [1, 1, targets[1]], "columns"),
      step: "pixels")
  }

  /// Returns the positions along an axis that are in each part, `[parts, size]`; axis 0 is that of rows.
  private func mask(_ box: ValueID, axis: Int, size: Int, _ parts: Int) throws -> ValueID {
    let name = axis == 0 ? "rows" : "columns"
    func corner(_ index: Int, _ step: String) throws -> ValueID {
      let scaled = try emitter.unary(
        UnaryFunction(.affine, a: scale, b: 0.5), part(box, index, "\(name)/\(step)_given"),
        step: "\(name)/\(step)_half")
      return try emitter.unary(UnaryFunction(.floor), scaled, step: "\(name)/\(step)")
    }
    let first = try corner(2 - axis, "first")
    let reach = try emitter.binary(.subtract, corner(4 - axis, "last"), first, step: "\(name)/reach")
    let length = try emitter.binary(
      .maximum, try emitter.unary(UnaryFunction(.affine, a: 1, b: 1), reach, step: "\(name)/length"),
      emitter.constant(1, .float32, step: "one"), step: "\(name)/size")
    func edge(_ offset: Int, _ rounding: UnaryFunction.Kind, _ step: String) throws -> ValueID {
      let numbers = try emitter.table(.float32, [parts, 1], step: "\(name)/\(step)_numbers") {
        (0..<parts).map { Double($0 + offset) }
      }
      let count = emitter.constant(Double(parts), .float32, step: "parts")
      let share = try emitter.binary(.divide, length, count, step: "\(name)/\(step)_share")
      let place = try emitter.binary(.multiply, numbers, share, step: "\(name)/\(step)_place")
      let whole = try emitter.unary(UnaryFunction(rounding), place, step: "\(name)/\(step)_whole")
      return try emitter.binary(.add, whole, first, step: "\(name)/\(step)")
    }
    let places = try emitter.table(.float32, [1, size], step: "\(name)/places") { (0..<size).map(Double.init) }
    let begins = try emitter.add(Compare(.greaterOrEqual), places, edge(0, .floor, "begin"), step: "\(name)/has_begun")
    let ends = try emitter.add(Compare(.less), places, edge(1, .ceil, "end"), step: "\(name)/has_not_ended")
    return try emitter.binary(.logicalAnd, begins, ends, step: "\(name)/mask")
  }

  /// Returns one of a box's numbers, `[1]`.
  private func part(_ box: ValueID, _ index: Int, _ step: String) throws -> ValueID {
    try emitter.slice(box, [SliceRange(start: index, count: 1)], step: step)
  }
}

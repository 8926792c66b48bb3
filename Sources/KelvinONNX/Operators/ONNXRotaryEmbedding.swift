import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let rotations: [ONNXMapper] = [rotaryEmbedding, microsoftRotary]

  /// Rotary embedding of operands `[N, heads, S, D]`, or `[N, S, heads · D]` with the number of heads as an attribute.
  /// Cosines and sines are tables by position, or values for each sample and position.
  private static let rotaryEmbedding = ONNXMapper("RotaryEmbedding") { c in
    let given = try c.input(0)
    let sizes = c.emitter.shape(given)
    let isFlat = sizes.rank == 3
    let heads = c.integer("num_heads", default: 0)
    guard sizes.rank == 4 || isFlat && heads > 0 && sizes[2] % heads == 0 else {
      throw c.emitter.invalid("\(c.emitter.type(given)) are not \(heads) heads")
    }
    let x = isFlat ? try c.emitter.reshape(given, [sizes[0], sizes[1], heads, sizes[2] / heads], step: "heads") : given
    let batch = sizes[0]
    let places = isFlat ? sizes[1] : sizes[2]
    func table(_ index: Int, _ step: String) throws -> ValueID {
      var table = try c.input(index)
      if let ids = c.optional(3) { table = try c.emitter.add(Gather(axis: 0), table, ids, step: "\(step)_by_place") }
      let shape = c.emitter.shape(table)
      guard shape.rank == 3, shape[0] == batch, shape[1] == places else {
        throw c.emitter.invalid("\(step): expected [\(batch), \(places), pairs], got \(c.emitter.type(table))")
      }
      let head = isFlat ? 2 : 1
      var sizes = shape.dimensions
      sizes.insert(1, at: head)
      return try c.emitter.reshape(table, Shape(sizes), step: step)
    }
    let rotated = try c.emitter.rotate(
      x, cosines: try table(1, "cosines"), sines: try table(2, "sines"),
      width: c.integer("rotary_embedding_dim", default: 0), isInterleaved: c.flag("interleaved"))
    return [try c.emitter.reshape(rotated, sizes)]
  }

  /// Rotary embedding with tables of the cosines and sines for each position: ONNX Runtime's `ContribOperators.md`.
  /// Operands are `[N, heads, S, D]`, or `[N, S, heads · D]`.
  private static let microsoftRotary = ONNXMapper("com.microsoft.RotaryEmbedding") { c in
    let (x, places, cosines) = (try c.input(0), try c.input(1), try c.input(2))
    guard !c.flag("is_packed_batching") else { throw c.unsupported("batches without padding (is_packed_batching)") }
    // ONNX Runtime's kernels ignore the scale.
    guard c.float("scale", default: 1) == 1 else { throw c.unsupported("a scale other than 1") }
    let sizes = c.emitter.shape(x)
    guard [3, 4].contains(sizes.rank), let pairs = c.emitter.shape(cosines).dimensions.last,
      (1..<(1 << 31)).contains(pairs)
    else { throw c.emitter.invalid("expected three or four axes, got \(c.emitter.type(x))") }
    let width = c.integer("rotary_embedding_dim", default: 0)
    var heads = x
    if sizes.rank == 3 {
      let given = c.integer("num_heads", default: 0)
      let count = width > 0 ? given : sizes[2] / (2 * pairs)
      heads = try c.emitter.splitHeads(x, count, step: "heads")
    }
    let (batch, length) = (sizes[0], c.emitter.shape(heads)[2])
    var named = places
    switch c.emitter.shape(places).dimensions {
    case [batch, length] where c.emitter.shape(places).rank == 2: break
    case [], [1]:
      let steps = try c.emitter.table(c.emitter.scalar(places), [1, length], step: "steps") {
        (0..<length).map(Double.init)
      }
      named = try c.emitter.binary(.add, steps, places, step: "places")
    default: throw c.emitter.invalid("places \(c.emitter.type(places)) of \(c.emitter.type(x))")
    }
    let turned = try c.emitter.rotate(
      heads, cosines: c.emitter.rows(of: cosines, at: named, step: "cosines"),
      sines: c.emitter.rows(of: try c.input(3), at: named, step: "sines"), width: width,
      isInterleaved: c.flag("interleaved"))
    return [sizes.rank == 3 ? try c.emitter.joinHeads(turned) : turned]
  }
}

extension Emitter {
  /// Rotates pairs of the last axis, `(a, b)` into `(a cos - b sin, a sin + b cos)`. Pairs consist of elements of the
  /// two halves, or of neighbors.
  ///
  /// - Parameter width: The number of leading elements that are rotated; 0 for all.
  func rotate(
    _ x: ValueID, cosines: ValueID, sines: ValueID, width: Int, isInterleaved: Bool
  ) throws -> ValueID {
    let sizes = shape(x)
    let last = sizes.rank - 1
    let width = width == 0 ? sizes[last] : width
    guard width > 0, width % 2 == 0, width <= sizes[last], shape(cosines).dimensions.last == width / 2 else {
      throw invalid("\(type(x)) does not have \(width) elements to rotate by \(type(cosines))")
    }
    return try add(RotaryEmbedding(width: width, isInterleaved: isInterleaved), x, cosines, sines, step: "turned")
  }
}

extension Emitter {
  /// Returns the rows of a table by position, `[N or 1, 1, S, pairs]`, which broadcast to heads.
  func rows(of table: ValueID, at places: ValueID, step: String) throws -> ValueID {
    guard shape(table).rank == 2, shape(places).rank == 2 else {
      throw invalid("\(step): expected a table and positions [N, S], got \(type(table)) and \(type(places))")
    }
    let rows = try add(Gather(axis: 0), table, places, step: "\(step)_by_place")
    let sizes = shape(rows)
    return try reshape(rows, [sizes[0], 1, sizes[1], sizes[2]], step: step)
  }
}

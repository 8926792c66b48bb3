import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Rotary embedding with tables of the cosines and sines for each position: ONNX Runtime's `ContribOperators.md`.
  /// Operands are `[N, heads, S, D]`, or `[N, S, heads · D]`.
  static let microsoftRotary = ONNXMapper("com.microsoft.RotaryEmbedding") { c in
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

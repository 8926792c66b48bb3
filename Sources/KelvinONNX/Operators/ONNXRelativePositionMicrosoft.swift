import Glibc
import KelvinGraph
import KelvinImport

/// Attention biases that depend on the distance between queries and keys: ONNX Runtime's `ContribOperators.md`, and its
/// kernels for the layout of the table.
extension ONNXMapper {
  static let microsoftRelativePositions: [ONNXMapper] = [relativePositionBias, gatedRelativePositionBias]

  /// Distances share buckets, which become wider with the distance. The table is in memory head after head, whatever
  /// its shape says.
  private static let relativePositionBias = ONNXMapper("com.microsoft.RelativePositionBias", valueDependent: [1, 2]) {
    c in
    let table = try c.input(0)
    let sizes = c.emitter.shape(table)
    guard sizes.rank == 2, sizes[0] >= 4, let queries = try c.constantIntegers(1, "query_length")?.first,
      let keys = try c.constantIntegers(2, "key_length")?.first, queries == keys, (1..<(1 << 31)).contains(queries)
    else { throw c.emitter.invalid("a table of \(c.emitter.type(table)), or lengths that are missing or differ") }
    let buckets = PositionBuckets(
      count: sizes[0], limit: try c.count("max_distance"), isBidirectional: c.flag("is_bidirectional"))
    guard buckets.limit > buckets.exact else {
      throw c.emitter.invalid("max_distance \(buckets.limit) with \(sizes[0]) buckets")
    }
    let places = try c.emitter.table(.int64, [queries, keys], step: "buckets") {
      (0..<queries).flatMap { query in (0..<keys).map { Double(buckets.bucket(of: $0 - query)) } }
    }
    let heads = try c.emitter.reshape(table, [sizes[1], sizes[0]], step: "heads")
    let rows = try c.emitter.add(Gather(axis: 1), heads, places, step: "rows")
    return [try c.emitter.reshape(rows, [1, sizes[1], queries, keys])]
  }

  /// A bias by position times `u · (r · eco_a - 1) + 2`; the queries determine the gates u and r.
  private static let gatedRelativePositionBias = ONNXMapper("com.microsoft.GatedRelativePositionBias") { c in
    guard c.optional(6) == nil else { throw c.unsupported("batches without padding (token_offset)") }
    let (weights, heads) = (try c.input(3), try c.count("num_heads"))
    let biased = try c.biased(try c.input(0), try c.input(1))
    let query = try c.emitter.splitHeads(biased, heads, step: "query")
    let (sizes, width) = (c.emitter.shape(query), c.emitter.shape(weights).dimensions.last ?? 0)
    guard c.emitter.shape(weights).dimensions == [sizes[3], width], width % 2 == 0 else {
      throw c.emitter.invalid("weights \(c.emitter.type(weights)) for heads \(c.emitter.type(query))")
    }
    let product = try c.emitter.matmul(query, weights, step: "product")
    let sums = try c.biased(product, try c.input(4), step: "sums")
    let pairs = try c.emitter.reshape(sums, [sizes[0], heads, sizes[2], 2, width / 2], step: "pairs")
    let gates = try c.emitter.unary(
      .sigmoid, c.emitter.add(Reduce(.sum, axes: [4], keepsDimensions: false), pairs, step: "pair_sums"), step: "gates")
    let each = try c.emitter.split(gates, axis: 3, sizes: [1, 1], step: "gate")
    let inner = try c.emitter.unary(
      UnaryFunction(.affine, a: 1, b: -1), c.emitter.binary(.multiply, each[1], try c.input(5), step: "scaled_gate"),
      step: "inner")
    let factor = try c.emitter.unary(
      UnaryFunction(.affine, a: 1, b: 2), c.emitter.binary(.multiply, each[0], inner, step: "gated"), step: "factor")
    let position = try c.input(2)
    let whole: Shape = [sizes[0], heads, sizes[2], sizes[2]]
    guard c.emitter.shape(factor).broadcast(with: c.emitter.shape(position)) == whole else {
      throw c.emitter.invalid("a bias of \(c.emitter.type(position)) for \(whole)")
    }
    return [try c.emitter.binary(.multiply, factor, position)]
  }
}

private struct PositionBuckets {
  var count: Int
  /// The distance from which on all distances share the last bucket.
  var limit: Int
  var isBidirectional: Bool

  /// The number of buckets of one direction.
  private var half: Int { isBidirectional ? count / 2 : count }
  /// The number of distances with a bucket of their own.
  var exact: Int { half / 2 }

  /// Returns the bucket of a key, given its offset from the query.
  func bucket(of offset: Int) -> Int {
    let first = isBidirectional && offset > 0 ? half : 0
    let distance = isBidirectional ? abs(offset) : max(-offset, 0)
    guard distance >= exact else { return first + distance }
    let share = logf(Float(distance) / Float(exact)) / logf(Float(limit) / Float(exact))
    return first + exact + min(Int(saturating: Double(share * Float(half - exact))), half - exact - 1)
  }
}

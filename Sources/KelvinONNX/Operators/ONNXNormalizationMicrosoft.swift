import KelvinGraph
import KelvinImport

/// Normalizations of the domain `com.microsoft`, most of them after a sum: ONNX Runtime's `ContribOperators.md`.
extension ONNXMapper {
  static let microsoftNormalization: [ONNXMapper] = [
    simplified("SimplifiedLayerNormalization"), simplified("com.microsoft.SimplifiedLayerNormalization"),
    skipLayerNormalization, skipSimplified, embedLayerNormalization, groupNorm, skipGroupNorm,
  ]

  /// Returns a mapper for an operator that ONNX Runtime registers in the standard domain, although it is not part of
  /// the standard.
  private static func simplified(_ name: String) -> ONNXMapper {
    ONNXMapper(name) { c in
      let x = try c.input(0)
      let axis = try c.emitter.axis(c.integer("axis", default: -1), of: x)
      return try c.rootMeanSquare(x, from: axis, scale: try c.input(1), epsilon: c.float("epsilon", default: 1e-5))
    }
  }

  private static let skipLayerNormalization = ONNXMapper("com.microsoft.SkipLayerNormalization") { c in
    let sum = try c.skipped(bias: 4)
    let (last, epsilon) = (c.emitter.shape(sum).rank - 1, c.float("epsilon", default: 1e-12))
    let result = try c.emitter.layerNormalize(
      sum, from: last, epsilon: epsilon, scale: try c.input(2), shift: c.optional(3))
    guard c.wants(1) || c.wants(2) else { return [result, sum, sum, sum] }
    let statistics = try c.emitter.statistics(of: sum, axes: [last], epsilon: epsilon)
    return [result, statistics.mean, statistics.inverseDeviation, sum]
  }

  private static let skipSimplified = ONNXMapper("com.microsoft.SkipSimplifiedLayerNormalization") { c in
    guard !c.wants(1), !c.wants(2) else {
      throw c.unsupported("its mean and its deviation are outputs", remedy: "export the model for inference")
    }
    let sum = try c.skipped(bias: 3)
    let result = try c.emitter.rootMeanSquareNormalize(
      sum, axes: [c.emitter.shape(sum).rank - 1], epsilon: c.float("epsilon", default: 1e-12), scale: try c.input(2))
    return [result, sum, sum, sum]
  }

  /// Normalizes the sum of the rows of two or three tables. The mask index is the number of ones in each mask, which
  /// are assumed to come first.
  private static let embedLayerNormalization = ONNXMapper("com.microsoft.EmbedLayerNormalization") { c in
    let ids = try c.input(0)
    let summed = try c.embedded(ids, positions: c.optional(8), segments: c.optional(1)) { table, ids, step in
      try c.emitter.add(Gather(axis: 0), try c.input(2 + table), ids, step: step)
    }
    let result = try c.emitter.layerNormalize(
      summed, from: 2, epsilon: c.float("epsilon", default: 1e-12), scale: try c.input(5), shift: try c.input(6))
    return [result, try c.maskIndex(c.optional(7), ids), summed]
  }

  private static let groupNorm = ONNXMapper("com.microsoft.GroupNorm") { c in
    [try c.activatedGroups(try c.input(0))]
  }

  private static let skipGroupNorm = ONNXMapper("com.microsoft.SkipGroupNorm") { c in
    let (x, skip) = (try c.input(0), try c.input(3))
    let (source, added) = (c.emitter.shape(x), c.emitter.shape(skip))
    guard source.rank == 4 else { throw c.emitter.invalid("expected four axes, got \(c.emitter.type(x))") }
    let isLast = c.flag("channels_last", default: true)
    let channels = source[isLast ? 3 : 1]
    let whole: Shape = isLast ? [source[0], 1, 1, channels] : [source[0], channels, 1, 1]
    let vector: Shape = isLast ? [channels] : [channels, 1, 1]
    guard added == source || added == whole || added == [source[0], channels] else {
      throw c.emitter.invalid("\(c.emitter.type(skip)) cannot be added to \(c.emitter.type(x))")
    }
    let placed = added == source ? skip : try c.emitter.reshape(skip, whole, step: "skip")
    var sum = try c.emitter.binary(.add, x, placed, step: "skipped")
    if let bias = c.optional(4) {
      guard c.emitter.shape(bias).count == channels else {
        throw c.emitter.invalid("a bias of \(c.emitter.type(bias)) for \(channels) channels")
      }
      sum = try c.emitter.binary(.add, sum, c.emitter.reshape(bias, vector, step: "bias"), step: "biased")
    }
    return [try c.activatedGroups(sum), sum]
  }
}

extension ONNXOperation {
  /// Returns the result and, if output 1 is requested, the inverse root mean square.
  fileprivate func rootMeanSquare(
    _ x: ValueID, from axis: Int, scale: ValueID, epsilon: Float
  ) throws -> [ValueID] {
    let axes = Array(axis..<emitter.shape(x).rank)
    let result = try emitter.rootMeanSquareNormalize(x, axes: axes, epsilon: epsilon, scale: scale)
    guard wants(1) else { return [result] }
    let wide = try emitter.cast(x, to: .float32, step: "wide")
    let squared = try emitter.unary(UnaryFunction(.square), wide, step: "squares")
    let mean = try emitter.add(Reduce(.mean, axes: axes, keepsDimensions: true), squared, step: "mean_of_squares")
    return [result, try emitter.unary(UnaryFunction(.rsqrt, a: epsilon), mean, step: "inverse_deviation")]
  }

  /// Returns the sum of input and skip, and of the bias if there is one.
  fileprivate func skipped(bias index: Int) throws -> ValueID {
    let (x, skip) = (try input(0), try input(1))
    let source = emitter.shape(x)
    guard (2...3).contains(source.rank), source.broadcast(with: emitter.shape(skip)) == source else {
      throw emitter.invalid("\(emitter.type(skip)) cannot be added to \(emitter.type(x))")
    }
    var sum = try emitter.binary(.add, x, skip, step: "skipped")
    if let bias = optional(index) { sum = try emitter.binary(.add, sum, bias, step: "biased") }
    guard emitter.shape(sum) == source else { throw emitter.invalid("its bias does not fit \(emitter.type(x))") }
    return sum
  }

  /// Returns the sum of the rows for words, positions and optionally segments. Positions count from 0 if they are
  /// omitted.
  ///
  /// - Parameter rows: Returns rows of table 0, 1 or 2.
  func embedded(
    _ ids: ValueID, positions: ValueID?, segments: ValueID?,
    _ rows: (_ table: Int, _ ids: ValueID, _ step: String) throws -> ValueID
  ) throws -> ValueID {
    let sizes = emitter.shape(ids)
    guard sizes.rank == 2, segments.map({ emitter.shape($0) == sizes }) ?? true else {
      throw emitter.invalid("\(emitter.type(ids)) and its segments: expected ids [N, S]")
    }
    let places =
      try positions ?? emitter.table(.int64, [1, sizes[1]], step: "positions") { (0..<sizes[1]).map(Double.init) }
    guard [[sizes[0], sizes[1]], [1, sizes[1]]].contains(emitter.shape(places).dimensions) else {
      throw emitter.invalid("positions \(emitter.type(places)) of \(emitter.type(ids))")
    }
    var sum = try emitter.binary(.add, rows(0, ids, "words"), rows(1, places, "places"), step: "words_and_places")
    if let segments { sum = try emitter.binary(.add, sum, rows(2, segments, "segments"), step: "sum") }
    guard emitter.shape(sum).rank == 3 else {
      throw emitter.invalid("its embeddings: expected [N, S, D], got \(emitter.type(sum))")
    }
    return sum
  }

  /// Returns the number of ones in each row of a mask, int32; zeros without a mask.
  func maskIndex(_ mask: ValueID?, _ ids: ValueID) throws -> ValueID {
    let sizes = emitter.shape(ids)
    guard let mask else { return emitter.zeros(TensorType(.int32, [sizes[0]]), step: "no_mask") }
    guard emitter.shape(mask) == sizes else {
      throw emitter.invalid("a mask of \(emitter.type(mask)) for \(emitter.type(ids))")
    }
    let one = emitter.constant(1, emitter.scalar(mask), step: "one")
    let isOne = try emitter.add(Compare(.equal), mask, one, step: "is_one")
    let ones = try emitter.cast(isOne, to: .int32, step: "ones")
    return try emitter.add(Reduce(.sum, axes: [1], keepsDimensions: false), ones, step: "mask_index")
  }

  /// Returns normalized groups of channels, scaled and shifted, optionally with SiLU.
  fileprivate func activatedGroups(_ x: ValueID) throws -> ValueID {
    let (scale, shift) = (try input(1), try input(2))
    guard emitter.shape(x).rank == 4 else { throw emitter.invalid("expected four axes, got \(emitter.type(x))") }
    let isLast = flag("channels_last", default: true)
    let first = isLast ? try emitter.transpose(x, [0, 3, 1, 2], step: "channels_first") : x
    let normal = try emitter.groupNormalize(
      first, groups: try count("groups"), epsilon: float("epsilon", default: 1e-5), scale: scale, shift: shift)
    let activated: ValueID
    switch integer("activation", default: 0) {
    case 0: activated = normal
    case 1: activated = try emitter.unary(.silu, normal, step: "activated")
    case let other: throw emitter.invalid("activation \(other) is neither 0 nor 1")
    }
    return isLast ? try emitter.transpose(activated, [0, 2, 3, 1], step: "channels_last") : activated
  }
}

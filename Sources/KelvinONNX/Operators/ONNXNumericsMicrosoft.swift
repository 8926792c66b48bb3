import KelvinGraph
import KelvinImport

/// Operators of the domain `com.microsoft` on images, signals, matrices and tokens: ONNX Runtime's `ContribOperators.md`.
extension ONNXMapper {
  static let microsoftNumerics: [ONNXMapper] = [
    cropAndResize, realFourier, inverseRealFourier, distances, inverse, nGramRepeatBlock,
  ]

  /// Crops boxes `[boxes, 4]`, y before x, from 0 to 1 between the first and the last pixel:
  /// `[boxes, C, height, width]`.
  private static let cropAndResize = ONNXMapper("com.microsoft.CropAndResize", valueDependent: [3]) { c in
    let (x, boxes, images) = (try c.input(0), try c.input(1), try c.input(2))
    guard let targets = try c.constantIntegers(3, "crop_size"), targets.count == 2,
      targets.allSatisfy({ (1..<(1 << 31)).contains($0) })
    else { throw c.emitter.invalid("crop_size is missing or not a height and a width") }
    let interpolation: GridSampler.Interpolation
    switch c.text("mode", default: "bilinear") {
    case "bilinear": interpolation = .linear
    case "nearest": interpolation = .nearestUp
    case let other: throw c.emitter.invalid("mode '\(other)' is neither bilinear nor nearest")
    }
    var crop = BoxCrop(
      boxes: BoxCrop.Boxes(corners: boxes, images: .numbered(images)),
      format: BoxCrop.Format(hasCorners: true, isHeightFirst: true), isNormalized: true, factor: 1, targets: targets,
      spacing: .endpoints(alone: 0.5), outside: .extrapolation(c.float("extrapolation_value", default: 0)))
    crop.interpolation = interpolation
    let crops = try c.emitter.crop(x, crop, step: "crops")
    let sizes = c.emitter.shape(crops)
    return [try c.emitter.reshape(crops, [sizes[0], sizes[2], sizes[3], sizes[4]])]
  }

  /// The Fourier transform of the last axis. The real and imaginary parts of the results are an additional axis.
  private static let realFourier = ONNXMapper("com.microsoft.Rfft") { c in
    try c.checkTransform()
    let x = try c.input(0)
    let sizes = c.emitter.shape(x)
    guard sizes.rank >= 1 else { throw c.emitter.invalid("no signal: \(c.emitter.type(x))") }
    let parts = try c.emitter.reshape(x, Shape(sizes.dimensions + [1]), step: "parts")
    return [
      try c.emitter.fourier(parts, axis: sizes.rank - 1, length: nil, isInverse: false, isOneSided: true)
    ]
  }

  private static let inverseRealFourier = ONNXMapper("com.microsoft.Irfft") { c in
    try c.checkTransform()
    let x = try c.input(0)
    let sizes = c.emitter.shape(x)
    guard sizes.rank >= 2 else { throw c.emitter.invalid("no spectrum: \(c.emitter.type(x))") }
    let signal = try c.emitter.fourier(x, axis: sizes.rank - 2, length: nil, isInverse: true, isOneSided: true)
    return [try c.emitter.reshape(signal, Shape(Array(c.emitter.shape(signal).dimensions.dropLast())))]
  }

  /// The distances between each row of a matrix and each of another.
  private static let distances = ONNXMapper("com.microsoft.CDist") { c in
    let (a, b) = (try c.input(0), try c.input(1))
    let (rows, others) = (c.emitter.shape(a), c.emitter.shape(b))
    guard rows.rank == 2, others.rank == 2, rows[1] == others[1] else {
      throw c.emitter.invalid(
        "\(c.emitter.type(a)) and \(c.emitter.type(b)) are not matrices with rows of equal length")
    }
    let metric = c.text("metric", default: "sqeuclidean")
    guard ["sqeuclidean", "euclidean"].contains(metric) else { throw c.unsupported("the metric '\(metric)'") }
    let differences = try c.emitter.binary(
      .subtract, c.emitter.reshape(a, [rows[0], 1, rows[1]], step: "rows"),
      c.emitter.reshape(b, [1, others[0], others[1]], step: "others"), step: "differences")
    let isSquared = metric == "sqeuclidean"
    let function: Reduce.Function = isSquared ? .sumOfSquares : .l2
    return [try c.emitter.add(Reduce(function, axes: [2], keepsDimensions: false), differences)]
  }

  /// Inverts by Gaussian elimination with partial pivoting, on the matrix next to the identity.
  private static let inverse = ONNXMapper("com.microsoft.Inverse") { c in
    let x = try c.input(0)
    let sizes = c.emitter.shape(x)
    guard sizes.rank >= 2, sizes[sizes.rank - 1] == sizes[sizes.rank - 2] else {
      throw c.emitter.invalid("expected square matrices, got \(c.emitter.type(x))")
    }
    let size = sizes[sizes.rank - 1]
    guard (1...64).contains(size) else { throw c.unsupported("matrices of \(size) rows, expected 1 to 64") }
    let batch = sizes.dimensions.dropLast(2).reduce(1, *)
    let matrices = try c.emitter.reshape(x, [batch, size, size], step: "matrices")
    return [try c.emitter.reshape(c.emitter.inverse(matrices), sizes)]
  }

  /// Replaces by -∞ the scores of tokens that would repeat an n-gram of the row.
  private static let nGramRepeatBlock = ONNXMapper("com.microsoft.NGramRepeatBlock") { c in
    let (ids, scores, size) = (try c.input(0), try c.input(1), try c.count("ngram_size"))
    let sizes = c.emitter.shape(ids)
    guard sizes.rank == 2, c.emitter.shape(scores).rank == 2, c.emitter.shape(scores)[0] == sizes[0] else {
      throw c.emitter.invalid("scores \(c.emitter.type(scores)) of tokens \(c.emitter.type(ids))")
    }
    let places = sizes[1] - size + 1
    guard places > 0 else { return [scores] }
    guard size <= 256 else { throw c.unsupported("rows of \(size) tokens that are not repeated") }
    func columns(_ start: Int, _ count: Int, _ step: String) throws -> ValueID {
      try c.emitter.slice(
        ids, [SliceRange(start: 0, count: sizes[0]), SliceRange(start: start, count: count)], step: step)
    }
    var isRepeated: ValueID?
    for offset in 0..<(size - 1) {
      let own = try columns(places + offset, 1, "last_\(offset)")
      let hit = try c.emitter.add(
        Compare(.equal), columns(offset, places, "from_\(offset)"), own, step: "hit_\(offset)")
      isRepeated = try isRepeated.map { try c.emitter.binary(.logicalAnd, $0, hit, step: "hits_\(offset)") } ?? hit
    }
    let scalar = c.emitter.scalar(scores)
    let hidden = c.emitter.constant(-.infinity, scalar, step: "hidden")
    let tokens = try columns(size - 1, places, "tokens")
    let updates: ValueID
    if let isRepeated {
      updates = try c.emitter.add(
        Select(), isRepeated, hidden, c.emitter.constant(.infinity, scalar, step: "shown"), step: "bounds")
    } else {
      updates = try c.emitter.add(Expand(c.emitter.shape(tokens)), hidden, step: "bounds")
    }
    return [try c.emitter.add(ScatterElements(axis: 1, reduction: .minimum), scores, tokens, updates)]
  }
}

extension ONNXOperation {
  fileprivate func checkTransform() throws {
    guard integer("signal_ndim", default: 1) == 1 else { throw unsupported("transforms of several axes (signal_ndim)") }
    guard flag("onesided", default: true), !flag("normalized") else {
      throw unsupported("a two-sided or normalized transform")
    }
  }
}

extension Emitter {
  /// Returns the inverses of matrices `[N, size, size]`.
  fileprivate func inverse(_ x: ValueID) throws -> ValueID {
    let (batch, size) = (shape(x)[0], shape(x)[1])
    let scalar = scalar(x)
    let identity = try table(scalar, [1, size, size], step: "identity") {
      (0..<size * size).map { $0 / size == $0 % size ? 1 : 0 }
    }
    var rows = try concat(
      [x, add(Expand([batch, size, size]), identity, step: "identities")], axis: 2, step: "augmented")
    let places = try table(.int64, [1, size, 1], step: "places") { (0..<size).map(Double.init) }
    let none = constant(0, scalar, step: "none")
    func part(_ x: ValueID, _ axis: Int, _ start: Int, _ count: Int, _ step: String) throws -> ValueID {
      try slice(x, axis: axis, SliceRange(start: start, count: count), step: step)
    }
    for column in 0..<size {
      let step = "column_\(column)"
      let magnitudes = try unary(
        UnaryFunction(.abs),
        part(part(rows, 2, column, 1, "\(step)/elements"), 1, column, size - column, "\(step)/rest"),
        step: "\(step)/magnitudes")
      let found = try add(ArgReduce(.maximum, axis: 1, keepsDimensions: true), magnitudes, step: "\(step)/found")
      let own = constant(Double(column), .int64, step: "\(step)/own")
      let place = try binary(.add, found, own, step: "\(step)/pivot_place")
      let isPivot = try add(Compare(.equal), places, place, step: "\(step)/is_pivot")
      let chosen = try add(Select(), isPivot, rows, none, step: "\(step)/chosen")
      let pivot = try add(Reduce(.sum, axes: [1], keepsDimensions: true), chosen, step: "\(step)/pivot")
      // The row at the pivot's position moves to the pivot's former row.
      let moved = try add(Select(), isPivot, part(rows, 1, column, 1, "\(step)/row"), rows, step: "\(step)/moved")
      let head = try part(pivot, 2, column, 1, "\(step)/head")
      let scaled = try binary(.divide, pivot, head, step: "\(step)/scaled")
      let factors = try part(moved, 2, column, 1, "\(step)/factors")
      let left = try binary(
        .subtract, moved, binary(.multiply, factors, scaled, step: "\(step)/multiples"), step: "\(step)/left")
      let isOwn = try add(Compare(.equal), places, own, step: "\(step)/is_own")
      rows = try add(Select(), isOwn, scaled, left, step: step)
    }
    return try part(rows, 2, size, size, "inverse")
  }
}

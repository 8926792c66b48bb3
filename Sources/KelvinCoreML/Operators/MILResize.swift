import KelvinGraph
import KelvinImport

extension MILMapper {
  static let resizing: [MILMapper] = [
    upsampleBilinear, upsampleNearestNeighbor, resizeBilinear, resizeNearestNeighbor, resize,
  ]

  /// Upsamples the last two axes by factors. The spacing of the samples follows from the sizes, not from the factors.
  private static let upsampleBilinear = MILMapper("upsample_bilinear") { operation, scope in
    let x = try operation.value("x", scope)
    let aligns = try operation.optionalFlag("align_corners", scope) ?? true
    let isCentered = try operation.optionalFlag("half_pixel_centers", scope) ?? !aligns
    guard !(aligns && isCentered) else { throw scope.emitter.invalid("aligns corners and centres pixels") }
    let sizes = try operation.scaledSizes(of: x, scope)
    return try scope.emitter.resizeLast(x, sizes, .linear) { length, size in
      let ratio = Double(length) / Double(size)
      return aligns ? .alignedCorners(length, size) : isCentered ? .halfPixel(ratio) : .asymmetric(ratio)
    }
  }

  private static let upsampleNearestNeighbor = MILMapper("upsample_nearest_neighbor") { operation, scope in
    let x = try operation.value("x", scope)
    let sizes = try operation.scaledSizes(of: x, scope)
    return try scope.emitter.resizeLast(x, sizes, .nearest(.floor)) { .asymmetric(Double($0) / Double($1)) }
  }

  private static let resizeBilinear = MILMapper("resize_bilinear") { operation, scope in
    let x = try operation.value("x", scope)
    let mode = try operation.samplingMode(scope)
    return try scope.emitter.resizeLast(x, try operation.targetSizes(scope), .linear) { mode.sampling($0, $1) }
  }

  private static let resizeNearestNeighbor = MILMapper("resize_nearest_neighbor") { operation, scope in
    let x = try operation.value("x", scope)
    return try scope.emitter.resizeLast(x, try operation.targetSizes(scope), .nearest(.floor)) {
      .asymmetric(Double($0) / Double($1))
    }
  }

  /// Resizes the last `resized_dims` axes to the last sizes of `shape`; 0 keeps a size.
  private static let resize = MILMapper("resize", valueDependent: ["shape"]) { operation, scope in
    let x = try operation.value("x", scope)
    let source = scope.emitter.shape(x)
    let shape = try operation.required(try operation.integers("shape", scope), "shape", scope)
    let count = try operation.required(try operation.integer("resized_dims", scope), "resized_dims", scope)
    guard (0...min(shape.count, source.rank)).contains(count) else {
      throw scope.emitter.invalid("resizes \(count) axes of \(scope.emitter.type(x)) to \(shape)")
    }
    let kept = source.dimensions.suffix(count)
    let sizes = zip(shape.suffix(count), kept).map { $0 == 0 ? $1 : $0 }
    let mode = try operation.samplingMode(scope)
    let interpolation: Resize.Interpolation
    switch try operation.text("interpolation_mode", scope) ?? "LINEAR" {
    case "LINEAR": interpolation = .linear
    // On the standard grid a half is rounded down, so that doubling a size repeats each element.
    case "NEAREST_NEIGHBOR": interpolation = .nearest(mode == .standard ? .halfDown : .halfUp)
    case let other: throw scope.emitter.invalid("interpolation_mode '\(other)' is not known")
    }
    return try scope.emitter.resizeLast(x, sizes, interpolation) { mode.sampling($0, $1) }
  }
}

/// The sampling grids of MIL's resizing operations.
enum SamplingMode: String {
  case strictAlignCorners = "STRICT_ALIGN_CORNERS"
  case alignCorners = "ALIGN_CORNERS"
  case standard = "DEFAULT"
  case offsetCorners = "OFFSET_CORNERS"
  case unalignCorners = "UNALIGN_CORNERS"

  func sampling(_ length: Int, _ size: Int) -> Sampling {
    let ratio = Double(length) / Double(size)
    switch self {
    case .strictAlignCorners: return .alignedCorners(length, size)
    case .alignCorners: return .alignedCorners(length, size, alone: Double(length - 1) / 2)
    case .standard: return .asymmetric(ratio)
    case .offsetCorners:
      let delta = Double(max(1, length - 1)) / Double(size)
      return Sampling(scale: delta, offset: 0.5 * delta)
    case .unalignCorners: return .halfPixel(ratio)
    }
  }
}

extension MILOperation {
  func samplingMode(_ scope: MILScope) throws -> SamplingMode {
    let name = try text("sampling_mode", scope) ?? "DEFAULT"
    guard let mode = SamplingMode(rawValue: name) else {
      throw scope.emitter.invalid("sampling_mode '\(name)' is not known")
    }
    return mode
  }

  /// Returns a flag whose default depends on the operation; nil if it is omitted.
  func optionalFlag(_ input: String, _ scope: MILScope) throws -> Bool? {
    try integer(input, scope).map { $0 != 0 }
  }

  fileprivate func targetSizes(_ scope: MILScope) throws -> [Int] {
    [try integer("target_size_height", scope) ?? 1, try integer("target_size_width", scope) ?? 1]
  }

  /// Returns the last two sizes times their factors, rounded down. The factors are rounded to float32 or float16: if
  /// the declared size is the next integer (78 for 60 by 1.3), the declared size is used.
  fileprivate func scaledSizes(of x: ValueID, _ scope: MILScope) throws -> [Int] {
    let sizes = scope.emitter.shape(x).dimensions.suffix(2)
    let factors = [
      try number("scale_factor_height", scope) ?? 1, try number("scale_factor_width", scope) ?? 1,
    ]
    let declared = outputs.first?.type.tensorType?.shape.dimensions.suffix(2) ?? []
    return try zip(sizes, factors).enumerated().map { index, pair in
      let (size, factor) = pair
      let rounded = Double(Float(size) * Float(factor)).rounded(.down)
      guard rounded >= 1, rounded < 0x1p31 else { throw scope.emitter.invalid("a factor of \(factor)") }
      let exact = Double(size) * Double(factor)
      let meant = declared.dropFirst(index).first.map(Double.init) ?? rounded
      return Int(meant == exact.rounded(.down) || meant == exact.rounded(.up) ? meant : rounded)
    }
  }
}

extension Emitter {
  /// Resizes the last axes.
  fileprivate func resizeLast(
    _ x: ValueID, _ sizes: [Int], _ interpolation: Resize.Interpolation, _ sampling: (Int, Int) -> Sampling
  ) throws -> ValueID {
    let source = shape(x)
    guard source.rank >= sizes.count else {
      throw invalid("expected at least \(sizes.count) dimensions, got \(type(x))")
    }
    let axes = sizes.enumerated().map { index, size in
      let axis = source.rank - sizes.count + index
      return (axis: axis, size: size, sampling: sampling(source[axis], max(size, 1)))
    }
    return try resize(x, axes, interpolation)
  }
}

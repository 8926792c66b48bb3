import KelvinGraph
import KelvinImport

extension MILMapper {
  static let resizing: [MILMapper] = [
    upsampleBilinear, upsampleNearestNeighbor, resizeBilinear, resizeNearestNeighbor, resize,
  ]

  /// Upsamples the last two axes by factors. The spacing of the samples follows from the sizes, not from the factors.
  private static let upsampleBilinear = MILMapper("upsample_bilinear") { c in
    let x = try c.x
    let aligns = try c.optionalFlag("align_corners") ?? true
    let isCentered = try c.optionalFlag("half_pixel_centers") ?? !aligns
    guard !(aligns && isCentered) else { throw c.emitter.invalid("aligns corners and centres pixels") }
    let sizes = try c.scaledSizes(of: x)
    return try c.emitter.resizeLast(x, sizes, .linear) { length, size in
      let ratio = Double(length) / Double(size)
      return aligns ? .alignedCorners(length, size) : isCentered ? .halfPixel(ratio) : .asymmetric(ratio)
    }
  }

  private static let upsampleNearestNeighbor = MILMapper("upsample_nearest_neighbor") { c in
    let x = try c.x
    let sizes = try c.scaledSizes(of: x)
    return try c.emitter.resizeLast(x, sizes, .nearest(.floor)) { .asymmetric(Double($0) / Double($1)) }
  }

  private static let resizeBilinear = MILMapper("resize_bilinear") { c in
    let x = try c.x
    let mode = try c.samplingMode()
    return try c.emitter.resizeLast(x, try c.targetSizes(), .linear) { mode.sampling($0, $1) }
  }

  private static let resizeNearestNeighbor = MILMapper("resize_nearest_neighbor") { c in
    let x = try c.x
    return try c.emitter.resizeLast(x, try c.targetSizes(), .nearest(.floor)) {
      .asymmetric(Double($0) / Double($1))
    }
  }

  /// Resizes the last `resized_dims` axes to the last sizes of `shape`; 0 keeps a size.
  private static let resize = MILMapper("resize", valueDependent: ["shape"]) { c in
    let x = try c.x
    let source = c.emitter.shape(x)
    let shape = try c.required("shape", c.integers)
    let count = try c.required("resized_dims", c.integer)
    guard (0...min(shape.count, source.rank)).contains(count) else {
      throw c.emitter.invalid("resizes \(count) axes of \(c.emitter.type(x)) to \(shape)")
    }
    let kept = source.dimensions.suffix(count)
    let sizes = zip(shape.suffix(count), kept).map { $0 == 0 ? $1 : $0 }
    let mode = try c.samplingMode()
    let interpolation: Resize.Interpolation
    switch try c.text("interpolation_mode") ?? "LINEAR" {
    case "LINEAR": interpolation = .linear
    // On the standard grid a half is rounded down, so that doubling a size repeats each element.
    case "NEAREST_NEIGHBOR": interpolation = .nearest(mode == .standard ? .halfDown : .halfUp)
    case let other: throw c.emitter.invalid("interpolation_mode '\(other)' is not known")
    }
    return try c.emitter.resizeLast(x, sizes, interpolation) { mode.sampling($0, $1) }
  }
}

/// The sampling grids of resizing operations and layers, by their names in ML Programs.
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

  /// The positions of samples along a box.
  var spacing: BoxCrop.Spacing {
    switch self {
    case .strictAlignCorners: .endpoints(alone: 0)
    case .alignCorners: .endpoints(alone: 0.5)
    case .standard: .upsampling
    case .offsetCorners: .offset
    case .unalignCorners: .centred
    }
  }
}

extension MILContext {
  func samplingMode() throws -> SamplingMode {
    let name = try text("sampling_mode") ?? "DEFAULT"
    guard let mode = SamplingMode(rawValue: name) else {
      throw emitter.invalid("sampling_mode '\(name)' is not known")
    }
    return mode
  }

  fileprivate func targetSizes() throws -> [Int] {
    [try integer("target_size_height") ?? 1, try integer("target_size_width") ?? 1]
  }

  /// Returns the last two sizes times their factors, rounded down. The factors are rounded to float32 or float16: if
  /// the declared size is the next integer (78 for 60 by 1.3), the declared size is used.
  fileprivate func scaledSizes(of x: ValueID) throws -> [Int] {
    let sizes = emitter.shape(x).dimensions.suffix(2)
    let factors = [try number("scale_factor_height") ?? 1, try number("scale_factor_width") ?? 1]
    let declared = outputs.first?.type.tensorType?.shape.dimensions.suffix(2) ?? []
    return try zip(sizes, factors).enumerated().map { index, pair in
      let (size, factor) = pair
      let rounded = Double(Float(size) * Float(factor)).rounded(.down)
      guard rounded >= 1, rounded < 0x1p31 else { throw emitter.invalid("a factor of \(factor)") }
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

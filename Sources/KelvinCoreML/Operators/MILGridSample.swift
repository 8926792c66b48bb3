import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Operations that sample images between pixels.
  static let sampling: [MILMapper] = [resample, affine, cropResize]

  /// Samples at coordinates `[B, H, W, 2]`, x before y.
  private static let resample = MILMapper("resample") { c in
    let emitter = c.emitter
    let (x, grid) = (try c.x, try c.value("coordinates"))
    let (source, sizes) = (emitter.shape(x), emitter.shape(grid))
    guard source.rank == 4, sizes.rank == 4, sizes[3] == 2, sizes[0] == source[0] else {
      throw emitter.invalid("\(emitter.type(grid)) is not a valid grid for \(emitter.type(x))")
    }
    return try c.samples(x, grid)
  }

  /// Samples at the transform of each position of the result: `[a0 x + a1 y + a2, b0 x + b1 y + b2]`.
  private static let affine = MILMapper("affine") { c in
    let emitter = c.emitter
    let (x, matrix) = (try c.x, try c.value("transform_matrix"))
    let (source, given) = (emitter.shape(x), emitter.shape(matrix))
    let height = try c.required("output_height", c.integer)
    let width = try c.required("output_width", c.integer)
    guard source.rank == 4, given.rank == 2, given[1] == 6, given[0] == 1 || given[0] == source[0],
      Shape([height, width]).isAddressable
    else { throw emitter.invalid("\(emitter.type(matrix)) does not transform \(emitter.type(x))") }
    let mode = try c.coordinateMode()
    let places = try emitter.table(.float32, [1, height * width, 3], step: "places") {
      var values: [Double] = []
      for row in 0..<height {
        for column in 0..<width { values += [mode.place(column, of: width), mode.place(row, of: height), 1] }
      }
      return values
    }
    let wide = try emitter.cast(matrix, to: .float32, step: "float32")
    let whole = try emitter.add(Expand([source[0], 6]), wide, step: "matrices")
    let rows = try emitter.reshape(whole, [source[0], 2, 3], step: "rows")
    let product = try emitter.add(MatMul(transposesY: true), places, rows, step: "transformed")
    let grid = try emitter.reshape(product, [source[0], height, width, 2], step: "grid")
    return try c.samples(x, grid)
  }

  /// Crops boxes of images and resizes each to one size: `[N, C, H, W]`, or before iOS 17 `[N, images, C, H, W]`.
  private static let cropResize = MILMapper("crop_resize") { c in
    let emitter = c.emitter
    let x = try c.x
    let isOld = c.operation.inputs["roi"] != nil
    let boxes: BoxCrop.Boxes
    if isOld {
      boxes = try emitter.boxes(try c.value("roi"))
    } else {
      let numbers = try c.optional("box_indices")
      boxes = BoxCrop.Boxes(
        corners: try c.value("boxes"), images: numbers.map { .numbered($0) } ?? .own)
    }
    let name = try c.text("box_coordinate_mode") ?? "CORNERS_HEIGHT_FIRST"
    guard let format = BoxCrop.Format(name) else {
      throw emitter.invalid("box_coordinate_mode '\(name)' is not known")
    }
    let targets = [try c.integer("target_height") ?? 1, try c.integer("target_width") ?? 1]
    let spacing = try c.samplingMode().spacing
    let crop = BoxCrop(
      boxes: boxes, format: format, isNormalized: try c.flag("normalized_coordinates"),
      factor: try c.number("spatial_scale") ?? 1, targets: targets, spacing: spacing,
      outside: .extrapolation(try c.number("pad_value") ?? 0), staysInside: true)
    let crops = try emitter.crop(x, crop, step: isOld ? nil : "crops")
    guard !isOld else { return crops }
    let shape = emitter.shape(crops)
    return try emitter.reshape(crops, Shape([shape[0]] + shape.dimensions.dropFirst(2)))
  }
}

/// The unit of a grid's coordinates.
private enum CoordinateMode {
  case pixels
  /// Coordinates between two bounds, which stand for the centers of the outer pixels, or for their edges.
  case range(lower: Double, upper: Double, alignsCorners: Bool)

  /// Returns the linear map of a coordinate to a position in pixels: `scale · x + offset`.
  func linear(_ size: Int) -> (scale: Double, offset: Double) {
    guard case .range(let lower, let upper, let alignsCorners) = self else { return (1, 0) }
    let length = Double(alignsCorners ? size - 1 : size) / (upper - lower)
    return (length, -lower * length - (alignsCorners ? 0 : 0.5))
  }

  /// Returns the coordinate of a pixel.
  func place(_ pixel: Int, of size: Int) -> Double {
    let (scale, offset) = linear(size)
    return scale == 0 ? -offset : (Double(pixel) - offset) / scale
  }
}

extension MILContext {
  fileprivate func coordinateMode() throws -> CoordinateMode {
    let alignsCorners = try optionalFlag("align_corners") ?? false
    switch try text("coordinates_mode") ?? "unnormalized" {
    case "unnormalized": return .pixels
    case "normalized_minus_one_to_one": return .range(lower: -1, upper: 1, alignsCorners: alignsCorners)
    case "normalized_zero_to_one": return .range(lower: 0, upper: 1, alignsCorners: alignsCorners)
    case let other: throw emitter.invalid("coordinates_mode '\(other)' is not known")
    }
  }

  /// Returns images sampled at the positions of a grid `[N, H, W, 2]`, x before y.
  fileprivate func samples(_ x: ValueID, _ grid: ValueID) throws -> ValueID {
    let interpolation: GridSampler.Interpolation
    switch try text("sampling_mode") ?? "bilinear" {
    case "bilinear": interpolation = .linear
    case "nearest": interpolation = .nearestUp
    case let other: throw emitter.invalid("sampling_mode '\(other)' is not known")
    }
    let outside: GridSampler.Outside
    switch try text("padding_mode") ?? "constant" {
    case "constant": outside = .constant(try number("padding_value") ?? 0)
    case "border": outside = .border
    case "reflection": outside = .reflection
    case "symmetric": outside = .symmetric
    case let other: throw emitter.invalid("padding_mode '\(other)' is not known")
    }
    let mode = try coordinateMode()
    let source = emitter.shape(x)
    let axes = try (0..<2).map { axis in
      let (scale, offset) = mode.linear(source[2 + axis])
      return GridAxis(
        places: try emitter.column(
          1 - axis, of: grid, scale: Float(scale), offset: Float(offset), step: axis == 0 ? "rows" : "columns"),
        size: source[2 + axis])
    }
    let (pixels, first) = try emitter.pixels(of: x)
    let samples = try emitter.sample(
      pixels, axes, first: first, GridSampler(interpolation: interpolation, outside: outside))
    return try emitter.images(samples, [emitter.shape(grid)[1], emitter.shape(grid)[2]])
  }
}

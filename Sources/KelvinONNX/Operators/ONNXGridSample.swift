import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let sampling: [ONNXMapper] = [gridSample, roiAlign]

  /// Samples images `[N, C, spatial…]` at the coordinates of a grid `[N, sizes…, axes]`, from -1 to 1 along each axis,
  /// with the last axis first.
  private static let gridSample = ONNXMapper("GridSample") { c in
    let (x, grid) = (try c.input(0), try c.input(1))
    let (source, sizes) = (c.emitter.shape(x), c.emitter.shape(grid))
    let axes = source.rank - 2
    guard axes >= 1, sizes.rank == source.rank, sizes.dimensions.last == axes, sizes[0] == source[0] else {
      throw c.emitter.invalid("\(c.emitter.type(grid)) is not a valid grid for \(c.emitter.type(x))")
    }
    let alignsCorners = c.flag("align_corners")
    let interpolation: GridSampler.Interpolation
    switch c.text("mode", default: c.opset < 20 ? "bilinear" : "linear") {
    case "linear", "bilinear": interpolation = .linear
    case "nearest": interpolation = .nearest
    case "cubic", "bicubic": interpolation = .cubic(a: -0.75)
    case let other: throw c.emitter.invalid("mode '\(other)' is not known")
    }
    let outside: GridSampler.Outside
    switch c.text("padding_mode", default: "zeros") {
    case "zeros": outside = .constant(0)
    case "border": outside = .border
    case "reflection": outside = alignsCorners ? .reflection : .symmetric
    case let other: throw c.emitter.invalid("padding_mode '\(other)' is not known")
    }
    let places = try (0..<axes).map { axis in
      let size = Float(source[2 + axis])
      return GridAxis(
        places: try c.emitter.column(
          axes - 1 - axis, of: grid, scale: alignsCorners ? (size - 1) / 2 : size / 2, offset: (size - 1) / 2,
          step: "places_\(axis)"), size: source[2 + axis])
    }
    let scalar = c.emitter.scalar(x)
    let isCast = scalar == .bool || !scalar.isFloatingPoint && !interpolation.isNearest
    let (pixels, first) = try c.emitter.pixels(
      of: isCast ? c.emitter.cast(x, to: scalar.blended, step: "real") : x)
    let samples = try c.emitter.sample(
      pixels, places, first: first, GridSampler(interpolation: interpolation, outside: outside))
    let images = try c.emitter.images(
      samples, Array(sizes.dimensions.dropFirst().dropLast()), step: isCast ? "images" : nil)
    return [isCast ? try c.emitter.rounded(images, to: scalar) : images]
  }

  /// Averages samples in each part of each box `[R, 4]`, x before y: `[R, C, height, width]`.
  ///
  /// In mode `max` the result is the largest product of pixel and interpolation weight over all samples, like in ONNX's
  /// reference and ONNX Runtime. If the number of samples depends on the sizes of boxes, input 3 (`ONNXDecomposition`)
  /// holds its maximum.
  private static let roiAlign = ONNXMapper("RoiAlign", valueDependent: [3]) { c in
    let (x, boxes, numbers) = (try c.input(0), try c.input(1), try c.input(2))
    let source = c.emitter.shape(x)
    let (height, width) = (c.integer("output_height", default: 1), c.integer("output_width", default: 1))
    let own = try c.constantIntegers(3, "number of samples")
    let ratio = own?.first ?? c.integer("sampling_ratio", default: 0)
    guard source.rank == 4, [height, width].allSatisfy({ (1..<(1 << 31)).contains($0) }),
      (1..<(1 << 15)).contains(ratio)
    else {
      throw c.emitter.invalid(
        "\(ratio) samples per side of a bin, boxes \(c.emitter.type(boxes)) of \(c.emitter.type(x))")
    }
    let takesLargest: Bool
    switch c.text("mode", default: "avg").lowercased() {
    case "avg": takesLargest = false
    case "max": takesLargest = true
    case let other: throw c.unsupported("mode '\(other)'")
    }
    let convention = c.opset < 16 ? "output_half_pixel" : "half_pixel"
    let isHalfPixel = c.text("coordinate_transformation_mode", default: convention) == "half_pixel"
    var crop = BoxCrop(
      boxes: BoxCrop.Boxes(corners: boxes, images: .numbered(numbers)),
      format: BoxCrop.Format(hasCorners: true, isHeightFirst: false), isNormalized: false,
      factor: c.float("spatial_scale", default: 1), shift: isHalfPixel ? -0.5 : 0,
      targets: [height * ratio, width * ratio], spacing: isHalfPixel ? .parts : .offset, outside: .edge,
      takesLargest: takesLargest)
    if own != nil { crop.parts = [height, width] }
    let crops = try c.emitter.crop(x, crop, step: "samples")
    let count = c.emitter.shape(crops)[0]
    let parts = try c.emitter.reshape(crops, [count, source[1], height, ratio, width, ratio], step: "parts")
    func reduce(_ function: Reduce.Function, step: String? = nil) throws -> ValueID {
      try c.emitter.add(Reduce(function, axes: [3, 5], keepsDimensions: false), parts, step: step)
    }
    guard own != nil, !takesLargest else { return [try reduce(takesLargest ? .maximum : .mean)] }
    let sides = try [(0, height), (1, width)].map { axis, parts in
      try c.emitter.sampleCounts(of: crop, axis, size: source[2 + axis], among: parts)
    }
    let one = c.emitter.constant(1, .float32, step: "at_least_one")
    let area = try c.emitter.binary(.multiply, sides[0], sides[1], step: "sample_counts")
    let divisor = try c.emitter.binary(.maximum, area, one, step: "counts")
    let factor = try c.emitter.cast(
      try c.emitter.reshape(divisor, [count, 1, 1, 1], step: "count_of_box"), to: c.emitter.scalar(x), step: "count")
    return [try c.emitter.binary(.divide, try reduce(.sum, step: "sum"), factor)]
  }
}

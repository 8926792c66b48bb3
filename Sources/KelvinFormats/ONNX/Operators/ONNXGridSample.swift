import KelvinGraph

extension ONNXMapper {
  /// Images `[N, C, spatial…]` at the places of a grid `[N, sizes…, axes]`, from -1 to 1 along each axis, the last axis first.
  static let gridSample = ONNXMapper("GridSample") { c in
    let (x, grid) = (try c.input(0), try c.input(1))
    let (source, sizes) = (c.emitter.shape(x), c.emitter.shape(grid))
    let axes = source.rank - 2
    guard axes >= 1, sizes.rank == source.rank, sizes.dimensions.last == axes, sizes[0] == source[0] else {
      throw c.emitter.invalid("\(c.emitter.type(grid)) is no grid of \(c.emitter.type(x))")
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
    let (pixels, first) = try c.emitter.pixels(of: x)
    let samples = try c.emitter.sample(
      pixels, places, first: first, GridSampler(interpolation: interpolation, outside: outside))
    return [try c.emitter.images(samples, Array(sizes.dimensions.dropFirst().dropLast()))]
  }

  /// The mean of samples in each part of each box `[R, 4]`, x before y: `[R, C, height, width]`.
  static let roiAlign = ONNXMapper("RoiAlign") { c in
    let (x, boxes, numbers) = (try c.input(0), try c.input(1), try c.input(2))
    let source = c.emitter.shape(x)
    let count = c.emitter.shape(numbers).count
    let sizes = [c.integer("output_height", default: 1), c.integer("output_width", default: 1)]
    let ratio = c.integer("sampling_ratio", default: 0)
    guard source.rank == 4, c.emitter.shape(boxes).dimensions == [count, 4], sizes.allSatisfy({ $0 > 0 }),
      (0..<(1 << 15)).contains(ratio), Shape([count] + sizes + [max(ratio, 1), max(ratio, 1)]).isAddressable
    else { throw c.emitter.invalid("boxes \(c.emitter.type(boxes)) of \(c.emitter.type(x))") }
    guard ratio > 0 else { throw c.unsupported("a sampling ratio that follows from the boxes' sizes") }
    guard c.text("mode", default: "avg") == "avg" else { throw c.unsupported("the largest of its samples") }
    let convention = c.opset < 16 ? "output_half_pixel" : "half_pixel"
    let isHalfPixel = c.text("coordinate_transformation_mode", default: convention) == "half_pixel"
    let scale = c.float("spatial_scale", default: 1)
    let given = try c.emitter.reshape(boxes, [count, 1, 4], step: "box_numbers")
    let samples = sizes[0] * sizes[1] * ratio * ratio
    // Samples are (row, column, row in the part, column in the part).
    let places = try (0..<2).map { axis -> ValueID in
      let step = axis == 0 ? "rows" : "columns"
      let offset: Float = isHalfPixel ? -0.5 : 0
      let start = try c.emitter.column(1 - axis, of: given, scale: scale, offset: offset, step: "\(step)/first")
      let end = try c.emitter.column(3 - axis, of: given, scale: scale, offset: offset, step: "\(step)/last")
      var length = try c.emitter.binary(.subtract, end, start, step: "\(step)/reach")
      if !isHalfPixel {
        length = try c.emitter.binary(
          .maximum, length, c.emitter.constant(1, .float32, step: "one"), step: "\(step)/length")
      }
      let shares = (0..<samples).map { sample in
        let inPart = axis == 0 ? sample / ratio % ratio : sample % ratio
        let part = sample / (ratio * ratio)
        let place = axis == 0 ? part / sizes[1] : part % sizes[1]
        return (Double(place) + (Double(inPart) + 0.5) / Double(ratio)) / Double(sizes[axis])
      }
      let along = Weight(Tensor(TensorType(.float32, [1, samples]), rounding: shares))
      let product = try c.emitter.binary(
        .multiply, length, c.emitter.constant(along, step: "\(step)/shares"), step: "\(step)/along")
      return try c.emitter.binary(.add, product, start, step: "\(step)/places")
    }
    let wide = try c.emitter.cast(
      c.emitter.reshape(numbers, [count, 1], step: "images"), to: .int32, step: "image_numbers")
    let area = c.emitter.constant(integers: [source[2] * source[3]], .int32, shape: [])
    let first = try c.emitter.binary(.multiply, wide, area, step: "first_pixels")
    let axes = (0..<2).map { GridAxis(places: places[$0], size: source[2 + $0]) }
    var values = try c.emitter.sample(
      c.emitter.pixels(of: x).pixels, axes, first: first, GridSampler(interpolation: .linear, outside: .edge))
    values = try c.emitter.reshape(
      values, [count, sizes[0] * sizes[1], ratio * ratio, source[1]], step: "samples_of_parts")
    let means = try c.emitter.add(Reduce(.mean, axes: [2], keepsDimensions: false), values, step: "means")
    return [try c.emitter.images(means, sizes)]
  }
}

package import KelvinGraph

/// Boxes of images, each sampled on a grid of the same size.
package struct BoxCrop {
  /// The image that a box is cut from.
  package enum Images {
    case all
    /// Box i is cut from image i.
    case own
    case numbered(ValueID)
  }

  package struct Boxes {
    /// `[N, 4]`
    package var corners: ValueID
    package var images: Images

    package init(corners: ValueID, images: Images) {
      self.corners = corners
      self.images = images
    }
  }

  /// The meaning of the four numbers of a box.
  package struct Format {
    /// Whether the numbers are first and last corner, as opposed to center and size.
    package var hasCorners: Bool
    /// Whether y precedes x.
    package var isHeightFirst: Bool

    package init(hasCorners: Bool, isHeightFirst: Bool) {
      self.hasCorners = hasCorners
      self.isHeightFirst = isHeightFirst
    }
  }

  /// The positions of samples along a box. The extent of a box is the distance from its first corner to its last.
  package enum Spacing: Equatable {
    /// From the first to the last pixel; a single sample is at this fraction of the extent.
    case endpoints(alone: Double)
    /// Equally spaced from the first pixel on; the size of the box is its extent plus 1.
    case upsampling
    /// The centers of equal parts of the extent.
    case parts
    /// The centers of equal parts of the extent, which is at least 1.
    case offset
    /// The centers of equal parts of the extent plus 1, half a pixel earlier.
    case centred
  }

  package var boxes: Boxes
  package var format: Format
  /// Whether coordinates are from 0 to 1, from the first pixel to the last.
  package var isNormalized: Bool
  package var factor: Float
  /// The offset that is added to the first corner after the factor is applied.
  package var shift: Float = 0
  /// Height and width.
  package var targets: [Int]
  /// The number of parts of a box along each axis, if the number of samples in a part depends on the size of the box.
  /// The targets then allow for the greatest number of samples. Nil if all boxes have the same number of samples.
  package var parts: [Int]?
  package var spacing: Spacing
  package var outside: GridSampler.Outside
  package var interpolation = GridSampler.Interpolation.linear
  /// Whether a sample is the largest of its weighted pixels, as opposed to their sum.
  package var takesLargest = false
  /// Whether samples beyond the first or last pixel of a box are clamped to it. With the spacing `offset` the upper
  /// limit is the last pixel of the image, if that follows the box.
  package var staysInside = false

  package init(
    boxes: Boxes, format: Format, isNormalized: Bool, factor: Float, shift: Float = 0, targets: [Int],
    parts: [Int]? = nil, spacing: Spacing, outside: GridSampler.Outside,
    interpolation: GridSampler.Interpolation = .linear, takesLargest: Bool = false, staysInside: Bool = false
  ) {
    self.boxes = boxes
    self.format = format
    self.isNormalized = isNormalized
    self.factor = factor
    self.shift = shift
    self.targets = targets
    self.parts = parts
    self.spacing = spacing
    self.outside = outside
    self.interpolation = interpolation
    self.takesLargest = takesLargest
    self.staysInside = staysInside
  }
}

extension BoxCrop.Format {
  package init?(_ name: String) {
    switch name {
    case "CORNERS_HEIGHT_FIRST": self.init(hasCorners: true, isHeightFirst: true)
    case "CORNERS_WIDTH_FIRST": self.init(hasCorners: true, isHeightFirst: false)
    case "CENTER_SIZE_HEIGHT_FIRST": self.init(hasCorners: false, isHeightFirst: true)
    case "CENTER_SIZE_WIDTH_FIRST": self.init(hasCorners: false, isHeightFirst: false)
    default: return nil
    }
  }
}

extension Emitter {
  /// Returns the boxes of `[N, 1, 4, 1, 1]`, cut from all images, or of `[N, 1, 5, 1, 1]`, whose first number is the
  /// index of the image.
  package func boxes(_ regions: ValueID) throws -> BoxCrop.Boxes {
    let shape = shape(regions)
    guard shape.rank == 5, shape.count == shape[0] * shape[2], shape[2] == 4 || shape[2] == 5 else {
      throw invalid("expected boxes [N, 1, 4 or 5, 1, 1], got \(type(regions))")
    }
    let rows = try reshape(regions, [shape[0], shape[2]], step: "box_rows")
    let all = SliceRange(start: 0, count: shape[0])
    let corners = try slice(rows, [all, SliceRange(start: shape[2] - 4, count: 4)], step: "boxes")
    guard shape[2] == 5 else { return BoxCrop.Boxes(corners: corners, images: .all) }
    let numbers = try slice(rows, [all, SliceRange(start: 0, count: 1)], step: "images")
    return BoxCrop.Boxes(corners: corners, images: .numbered(numbers))
  }

  /// Returns `[N, images, C, height, width]` of images `[B, C, H, W]`.
  package func crop(_ x: ValueID, _ crop: BoxCrop, step: String? = nil) throws -> ValueID {
    let (source, count) = (shape(x), shape(crop.boxes.corners).dimensions.first ?? 0)
    guard source.rank == 4, shape(crop.boxes.corners).dimensions == [count, 4] else {
      throw invalid("expected [B, C, H, W] and boxes [N, 4], got \(type(x)) and \(type(crop.boxes.corners))")
    }
    let images = if case .all = crop.boxes.images { source[0] } else { 1 }
    guard crop.targets.count == 2, crop.targets.allSatisfy({ $0 > 0 }),
      Shape([count, images] + crop.targets).isAddressable
    else { throw invalid("targets of \(crop.targets)") }
    let area = source[2] * source[3]
    let first: ValueID
    switch crop.boxes.images {
    case .numbered(let numbers):
      let whole = try cast(reshape(numbers, [count, 1], step: "image_column"), to: .int32, step: "image_numbers")
      first = try binary(.multiply, whole, constant(integers: [area], .int32, shape: []), step: "first_pixels")
    case .own:
      guard count <= source[0] else { throw invalid("\(count) boxes of \(source[0]) images, expected no more") }
      first = try table(.int32, [count, 1], step: "first_pixels") { (0..<count).map { Double($0 * area) } }
    case .all:
      first = try table(.int32, [count * images, 1], step: "first_pixels") {
        (0..<count * images).map { Double($0 % images * area) }
      }
    }
    let axes = try (0..<2).map { axis in
      let places = try places(of: crop, axis, size: source[2 + axis])
      guard images > 1 else { return GridAxis(places: places, size: source[2 + axis]) }
      let samples = shape(places)[1]
      let separate = try reshape(places, [count, 1, samples], step: "box_places_\(axis)")
      let repeated = try add(Expand([count, images, samples]), separate, step: "places_by_image_\(axis)")
      return GridAxis(
        places: try reshape(repeated, [count * images, samples], step: "image_places_\(axis)"), size: source[2 + axis])
    }
    let sampler = GridSampler(interpolation: crop.interpolation, outside: crop.outside, takesLargest: crop.takesLargest)
    let samples = try sample(pixels(of: x).pixels, axes, first: first, sampler)
    return try reshape(
      self.images(samples, crop.targets, step: "images"), Shape([count, images, source[1]] + crop.targets), step: step)
  }

  /// Returns the number of samples of each box along an axis of a part, `[boxes, 1]`; it depends on the size of the
  /// box, so that a sample covers at most a pixel.
  package func sampleCounts(of crop: BoxCrop, _ axis: Int, size: Int, among parts: Int) throws -> ValueID {
    let step = axis == 0 ? "rows" : "columns"
    let (_, reach) = try self.reach(of: crop, axis, size: size)
    let part = try unary(UnaryFunction(.affine, a: 1 / Float(parts)), reach, step: "\(step)/part")
    let whole = try unary(UnaryFunction(.ceil), part, step: "\(step)/pixels_of_part")
    return try unary(.clip(0, Float(crop.targets[axis] / parts)), whole, step: "\(step)/samples_of_part")
  }

  /// Returns the positions of the samples of each box along rows or columns, `[boxes, height · width]`. Surplus samples
  /// of a part are outside the image, or at the position of the last sample if the maximum is taken.
  private func adaptedPlaces(of crop: BoxCrop, _ axis: Int, size: Int, among parts: Int) throws -> ValueID {
    let step = axis == 0 ? "rows" : "columns"
    let (start, reach) = try self.reach(of: crop, axis, size: size)
    let (width, room) = (crop.targets[1], crop.targets[axis] / parts)
    func line(_ name: String, _ value: @escaping @Sendable (Int) -> Double) throws -> ValueID {
      try table(.float32, [1, crop.targets[0] * width], step: "\(step)/\(name)") {
        (0..<crop.targets[0] * width).map { value(axis == 0 ? $0 / width : $0 % width) }
      }
    }
    let counts = try sampleCounts(of: crop, axis, size: size, among: parts)
    let one = constant(1, .float32, step: "one")
    let divisor = try binary(.maximum, counts, one, step: "\(step)/divisor")
    var numbers = try line("numbers") { Double($0 % room) }
    var isThere = try add(Compare(.less), numbers, counts, step: "\(step)/is_there")
    if crop.takesLargest {
      let last = try binary(.subtract, divisor, one, step: "\(step)/last")
      numbers = try binary(.minimum, numbers, last, step: "\(step)/numbers_there")
      isThere = try add(Compare(.greaterOrEqual), counts, one, step: "\(step)/is_any")
    }
    let part = try unary(UnaryFunction(.affine, a: 1 / Float(parts)), reach, step: "\(step)/part")
    let spacing = try binary(.divide, part, divisor, step: "\(step)/spacing")
    let middles = try unary(UnaryFunction(.affine, a: 1, b: 0.5), numbers, step: "\(step)/middles")
    let inPart = try binary(.multiply, middles, spacing, step: "\(step)/in_part")
    let parts = try line("parts") { Double($0 / room) }
    let before = try binary(.multiply, parts, part, step: "\(step)/to_part")
    let first = try binary(.add, before, start, step: "\(step)/of_part")
    let place = try binary(.add, first, inPart, step: "\(step)/places")
    return try add(Select(), isThere, place, constant(-4, .float32, step: "outside"), step: "\(step)/places_there")
  }

  /// Returns the positions of the samples of each box along rows or columns, `[boxes, height · width]`.
  private func places(of crop: BoxCrop, _ axis: Int, size: Int) throws -> ValueID {
    if let parts = crop.parts { return try adaptedPlaces(of: crop, axis, size: size, among: parts[axis]) }
    let step = axis == 0 ? "rows" : "columns"
    let (start, reach) = try reach(of: crop, axis, size: size)
    let (height, width, spacing) = (crop.targets[0], crop.targets[1], crop.spacing)
    let shares = try table(.float32, [1, height * width], step: "\(step)/shares") {
      (0..<height * width).map {
        axis == 0 ? spacing.share(of: $0 / width, among: height) : spacing.share(of: $0 % width, among: width)
      }
    }
    var along = try binary(.multiply, reach, shares, step: "\(step)/along")
    if crop.spacing == .centred {
      along = try unary(UnaryFunction(.affine, a: 1, b: -0.5), along, step: "\(step)/from_half")
    }
    if crop.staysInside { along = try inside(along, crop, axis, size: size) }
    return try binary(.add, along, start, step: "\(step)/from_start")
  }

  /// Returns the clamped offsets of samples along each box.
  private func inside(_ along: ValueID, _ crop: BoxCrop, _ axis: Int, size: Int) throws -> ValueID {
    let step = axis == 0 ? "rows" : "columns"
    var whole = crop
    whole.spacing = .parts
    switch crop.spacing {
    case .endpoints, .parts: return along
    case .upsampling, .offset, .centred: break
    }
    let (start, span) = try reach(of: whole, axis, size: size)
    var limit = span
    if crop.spacing == .offset {
      let room = try unary(UnaryFunction(.affine, a: -1, b: Float(size - 1)), start, step: "\(step)/room")
      limit = try binary(.maximum, span, room, step: "\(step)/limit")
    }
    let limited = try binary(.minimum, along, limit, step: "\(step)/to_last")
    guard crop.spacing == .centred else { return limited }
    return try unary(.clip(0, .infinity), limited, step: "\(step)/from_first")
  }

  /// Returns the start and the extent of each box along rows or columns, `[boxes, 1]`.
  private func reach(of crop: BoxCrop, _ axis: Int, size: Int) throws -> (start: ValueID, reach: ValueID) {
    let step = axis == 0 ? "rows" : "columns"
    let count = shape(crop.boxes.corners)[0]
    let numbers = try reshape(crop.boxes.corners, [count, 1, 4], step: "box_numbers")
    let place = crop.format.isHeightFirst ? axis : 1 - axis
    let scale = crop.factor * (crop.isNormalized ? Float(size - 1) : 1)
    let shift = crop.format.hasCorners ? crop.shift : 0
    var start = try column(place, of: numbers, scale: scale, offset: crop.shift, step: "\(step)/first")
    var reach = try column(place + 2, of: numbers, scale: scale, offset: shift, step: "\(step)/second")
    if crop.format.hasCorners {
      reach = try binary(.subtract, reach, start, step: "\(step)/reach")
    } else {
      let half = try unary(UnaryFunction(.affine, a: 0.5), reach, step: "\(step)/half")
      start = try binary(.subtract, start, half, step: "\(step)/start")
    }
    switch crop.spacing {
    case .endpoints, .parts: break
    case .upsampling, .centred: reach = try unary(UnaryFunction(.affine, a: 1, b: 1), reach, step: "\(step)/length")
    case .offset: reach = try binary(.maximum, reach, constant(1, .float32, step: "one"), step: "\(step)/length")
    }
    return (start, reach)
  }
}

extension BoxCrop.Spacing {
  /// Returns the relative position along a box of the sample with an index among `count`.
  fileprivate func share(of place: Int, among count: Int) -> Double {
    switch self {
    case .endpoints(let alone): count > 1 ? Double(place) / Double(count - 1) : alone
    case .upsampling: Double(place) / Double(count)
    case .parts, .offset, .centred: (Double(place) + 0.5) / Double(count)
    }
  }
}

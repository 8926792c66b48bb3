package import KelvinGraph

/// The sampling of images between pixels, at computed positions.
package struct GridSampler {
  package enum Interpolation {
    /// To the nearest pixel, with ties to the even one.
    case nearest
    /// To the nearest pixel, with ties to the following one.
    case nearestUp
    case linear
    /// Keys' cubic convolution with the coefficient `a`.
    case cubic(a: Float)

    /// Whether each sample is a single pixel.
    package var isNearest: Bool {
      switch self {
      case .nearest, .nearestUp: true
      case .linear, .cubic: false
      }
    }
  }

  /// The values outside the image.
  package enum Outside: Equatable {
    /// Pixels of this value surround the image.
    case constant(Float)
    /// Samples beyond the outer pixels' centers have this value.
    case extrapolation(Float)
    case border
    /// The border up to one pixel beyond it, 0 further away.
    case edge
    /// Mirrored at the centers of the first and the last pixel.
    case reflection
    /// Mirrored at the outer edges of the first and the last pixel.
    case symmetric
  }

  package var interpolation: Interpolation
  package var outside: Outside
  /// Whether a sample is the largest of its weighted pixels, as opposed to their sum.
  package var takesLargest = false

  package init(interpolation: Interpolation, outside: Outside, takesLargest: Bool = false) {
    self.interpolation = interpolation
    self.outside = outside
    self.takesLargest = takesLargest
  }
}

/// The positions of samples along one axis of an image.
package struct GridAxis {
  /// `[batch, samples]`, in pixels, float32.
  package var places: ValueID
  package var size: Int

  package init(places: ValueID, size: Int) {
    self.places = places
    self.size = size
  }
}

extension Emitter {
  /// Returns samples `[batch, samples, channels]` of pixels `[all, channels]`.
  ///
  /// - Parameters:
  ///   - axes: The axes of an image, first to last.
  ///   - first: The index of the first pixel of each batch's image, `[batch, 1]`, int32; nil if all read the first
  ///     image.
  package func sample(_ pixels: ValueID, _ axes: [GridAxis], first: ValueID?, _ sampler: GridSampler) throws -> ValueID
  {
    let sizes = Shape(axes.map(\.size))
    // A sample reads two or four pixels along each axis, in all combinations.
    guard (1...3).contains(axes.count), axes.allSatisfy({ $0.size > 0 }), sizes.isAddressable, sizes.count < 1 << 31
    else { throw invalid("images of \(sizes) pixels, expected 1 to 3 axes") }
    let strides = sizes.strides
    let taps = try axes.enumerated().map { index, axis in
      var axis = axis
      // If both pixels are clamped to the border, one of them has all the weight.
      if sampler.takesLargest {
        axis.places = try unary(.clip(0, Float(axis.size - 1)), axis.places, step: "axis_\(index)/within")
      }
      return try self.taps(of: axis, stride: strides[index], sampler, step: "axis_\(index)")
    }
    let scalar = scalar(pixels)
    let (count, channels) = (shape(pixels)[0], shape(pixels)[1])
    var (pixels, outside) = (pixels, ValueID?.none)
    if case .constant(let number) = sampler.outside {
      // Taps outside read one more pixel, which moves less than a choice among the channels of each sample.
      let row = try table(scalar, [1, channels], step: "outside") {
        [Double](repeating: Double(number), count: channels)
      }
      pixels = try concat([pixels, row], axis: 0, step: "pixels_and_outside")
      outside = constant(Double(count), .int32, step: "outside_pixel")
    }
    var total: ValueID?
    // All combinations of one tap along each axis.
    for number in 0..<taps.reduce(1, { $0 * $1.count }) {
      var (rest, chosen) = (number, [GridTap]())
      for axis in taps {
        chosen.append(axis[rest % axis.count])
        rest /= axis.count
      }
      let step = "tap_\(number)"
      var place = chosen[0].place
      for tap in chosen.dropFirst() { place = try binary(.add, place, tap.place, step: "\(step)/place") }
      if let first { place = try binary(.add, place, first, step: "\(step)/pixel") }
      if let outside {
        var isInside = chosen[0].isInside
        for tap in chosen.dropFirst() {
          isInside = try optional(isInside, tap.isInside) { try binary(.logicalAnd, $0, $1, step: "\(step)/is_inside") }
        }
        if let isInside { place = try add(Select(), isInside, place, outside, step: "\(step)/pixel_or_outside") }
      }
      var value = try add(Gather(axis: 0), pixels, place, step: "\(step)/value")
      var weight = chosen[0].weight
      for tap in chosen.dropFirst() {
        weight = try optional(weight, tap.weight) { try binary(.multiply, $0, $1, step: "\(step)/weight") }
      }
      if let weight {
        let factor = try cast(spread(weight, step: "\(step)/weight_column"), to: scalar, step: "\(step)/factor")
        value = try binary(.multiply, value, factor, step: "\(step)/term")
      }
      let combination: Binary.Function = sampler.takesLargest ? .maximum : .add
      total = try total.map { try binary(combination, $0, value, step: "\(step)/sum") } ?? value
    }
    guard let total else { throw invalid("images without axes") }
    let (number, margin): (Float, Float)
    switch sampler.outside {
    case .extrapolation(let value): (number, margin) = (value, 0)
    case .edge: (number, margin) = (0, 1)
    default: return total
    }
    var isInside: ValueID?
    for (index, axis) in axes.enumerated() {
      let clipped = try unary(
        .clip(-margin, Float(axis.size - 1) + margin), axis.places, step: "axis_\(index)/clipped")
      let isWithin = try add(Compare(.equal), clipped, axis.places, step: "axis_\(index)/is_within")
      isInside = try optional(isInside, isWithin) { try binary(.logicalAnd, $0, $1, step: "axis_\(index)/is_inside") }
    }
    return try isInside.map {
      try add(
        Select(), spread($0, step: "inside_column"), total, constant(Double(number), scalar, step: "outside"),
        step: "padded")
    } ?? total
  }

  /// Returns one number per sample with an axis that broadcasts to channels.
  private func spread(_ x: ValueID, step: String) throws -> ValueID {
    try reshape(x, Shape(shape(x).dimensions + [1]), step: step)
  }

  private func optional(
    _ x: ValueID?, _ y: ValueID?, _ combine: (ValueID, ValueID) throws -> ValueID
  ) rethrows -> ValueID? {
    guard let x, let y else { return x ?? y }
    return try combine(x, y)
  }

  private func taps(
    of axis: GridAxis, stride: Int, _ sampler: GridSampler, step: String
  ) throws -> [GridTap] {
    switch sampler.interpolation {
    case .nearest:
      let nearest = try unary(UnaryFunction(.round), axis.places, step: "\(step)/nearest")
      return [try tap(at: nearest, weight: nil, axis, stride, sampler, step: "\(step)/tap")]
    case .nearestUp:
      let shifted = try unary(UnaryFunction(.affine, a: 1, b: 0.5), axis.places, step: "\(step)/shifted")
      let nearest = try unary(UnaryFunction(.floor), shifted, step: "\(step)/nearest")
      return [try tap(at: nearest, weight: nil, axis, stride, sampler, step: "\(step)/tap")]
    case .linear:
      let base = try unary(UnaryFunction(.floor), axis.places, step: "\(step)/base")
      let share = try binary(.subtract, axis.places, base, step: "\(step)/share")
      let rest = try unary(UnaryFunction(.affine, a: -1, b: 1), share, step: "\(step)/rest")
      let next = try unary(UnaryFunction(.affine, a: 1, b: 1), base, step: "\(step)/next")
      return [
        try tap(at: base, weight: rest, axis, stride, sampler, step: "\(step)/tap_0"),
        try tap(at: next, weight: share, axis, stride, sampler, step: "\(step)/tap_1"),
      ]
    case .cubic(let a):
      let base = try unary(UnaryFunction(.floor), axis.places, step: "\(step)/base")
      let share = try binary(.subtract, axis.places, base, step: "\(step)/share")
      return try (-1...2).map { offset in
        let name = "\(step)/tap_\(offset + 1)"
        let away = try unary(
          UnaryFunction(.affine, a: offset > 0 ? -1 : 1, b: Float(abs(offset))), share, step: "\(name)/distance")
        // For the distance d: (a + 2) d³ - (a + 3) d² + 1 up to 1, a d³ - 5a d² + 8a d - 4a up to 2.
        let terms: [Float] = offset == 0 || offset == 1 ? [a + 2, -a - 3, 0, 1] : [a, -5 * a, 8 * a, -4 * a]
        var weight = try unary(UnaryFunction(.affine, a: terms[0], b: terms[1]), away, step: "\(name)/cubic")
        for (index, term) in terms.dropFirst(2).enumerated() {
          weight = try binary(.multiply, weight, away, step: "\(name)/product_\(index)")
          weight = try unary(UnaryFunction(.affine, a: 1, b: term), weight, step: "\(name)/sum_\(index)")
        }
        let place = try unary(UnaryFunction(.affine, a: 1, b: Float(offset)), base, step: "\(name)/pixel")
        return try tap(at: place, weight: weight, axis, stride, sampler, step: name)
      }
    }
  }

  /// Returns the tap at an integer position, mapped into the image.
  private func tap(
    at place: ValueID, weight: ValueID?, _ axis: GridAxis, _ stride: Int, _ sampler: GridSampler, step: String
  ) throws -> GridTap {
    let last = Float(axis.size - 1)
    var inside = place
    switch sampler.outside {
    case .constant, .extrapolation, .border, .edge: break
    case .reflection: inside = try mirrored(place, from: 0, to: last, step: step)
    case .symmetric: inside = try mirrored(place, from: -0.5, to: last + 0.5, step: step)
    }
    // Not-a-number reads an arbitrary pixel, with a weight that is not-a-number too.
    inside = try unary(.clip(0, last), inside, step: "\(step)/inside")
    var isInside: ValueID?
    if case .constant = sampler.outside {
      isInside = try add(Compare(.equal), inside, place, step: "\(step)/is_inside")
    }
    let whole = try cast(inside, to: .int32, step: "\(step)/whole")
    let scaled =
      stride == 1
      ? whole
      : try binary(.multiply, whole, constant(integers: [stride], .int32, shape: []), step: "\(step)/line")
    return GridTap(place: scaled, weight: weight, isInside: isInside)
  }

  /// Returns `x` mirrored at both ends, repeatedly if necessary.
  private func mirrored(_ x: ValueID, from low: Float, to high: Float, step: String) throws -> ValueID {
    let span = high - low
    guard span > 0 else { return x }
    let away = try unary(
      UnaryFunction(.abs), unary(UnaryFunction(.affine, a: 1, b: -low), x, step: "\(step)/from_edge"),
      step: "\(step)/distance")
    let turn = try binary(
      .modulo, away, constant(Double(2 * span), scalar(x), step: "period"), step: "\(step)/in_period")
    // low + span - |turn - span|
    let fold = try unary(
      UnaryFunction(.abs), unary(UnaryFunction(.affine, a: 1, b: -span), turn, step: "\(step)/turn"),
      step: "\(step)/fold")
    return try unary(UnaryFunction(.affine, a: -1, b: low + span), fold, step: "\(step)/mirrored")
  }

  /// Returns the pixels of `[N, C, spatial…]` as `[all, C]`, and the index of the first pixel of each sample's image,
  /// `[N, 1]`.
  package func pixels(of x: ValueID) throws -> (pixels: ValueID, first: ValueID?) {
    let sizes = shape(x)
    let area = sizes.dimensions.dropFirst(2).reduce(1, *)
    guard Shape([sizes[0], area]).isAddressable, sizes[0] * area < 1 << 31 else {
      throw invalid("\(type(x)) is too large")
    }
    let planes = try reshape(x, [sizes[0], sizes[1], area], step: "planes")
    let last = try transpose(planes, [0, 2, 1], step: "channels_last")
    let pixels = try reshape(last, [sizes[0] * area, sizes[1]], step: "pixels")
    guard sizes[0] > 1 else { return (pixels, nil) }
    let first = try table(.int32, [sizes[0], 1], step: "first_pixels") { (0..<sizes[0]).map { Double($0 * area) } }
    return (pixels, first)
  }

  /// Returns samples `[batch, samples, channels]` as images.
  package func images(_ samples: ValueID, _ sizes: [Int], step: String? = nil) throws -> ValueID {
    let shape = shape(samples)
    let first = try transpose(samples, [0, 2, 1], step: "channels_first")
    return try reshape(first, Shape([shape[0], shape[2]] + sizes), step: step)
  }

  /// Returns one of the numbers at each position of a grid `[N, …, numbers]`, as `[N, positions]` float32, times
  /// `scale`, plus `offset`.
  package func column(_ index: Int, of grid: ValueID, scale: Float, offset: Float, step: String) throws -> ValueID {
    let sizes = shape(grid)
    let one = try slice(grid, axis: sizes.rank - 1, SliceRange(start: index, count: 1), step: "\(step)/given")
    let count = sizes.dimensions.dropFirst().dropLast().reduce(1, *)
    let flat = try reshape(one, [sizes[0], count], step: "\(step)/flat")
    let real = try cast(flat, to: .float32, step: "\(step)/float32")
    return try unary(UnaryFunction(.affine, a: scale, b: offset), real, step: step)
  }
}

/// A pixel's position along one axis, times the axis's stride.
private struct GridTap {
  var place: ValueID
  /// The weight; nil for 1.
  var weight: ValueID?
  /// Whether the position is inside the image; nil if all positions are.
  var isInside: ValueID?
}

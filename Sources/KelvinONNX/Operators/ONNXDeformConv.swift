import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// A convolution `[N, C, spatial…]` whose samples are moved by offsets and multiplied by a mask. Samples between
  /// pixels are interpolated linearly; samples outside are zero. Reference: Dai et al., Deformable Convolutional
  /// Networks (2017).
  static let deformConv = ONNXMapper("DeformConv") { c in
    let (x, weights, offsets) = (try c.input(0), try c.input(1), try c.input(2))
    let (source, filters) = (c.emitter.shape(x), c.emitter.shape(weights))
    let axes = source.rank - 2
    let (groups, parts) = (c.integer("group", default: 1), c.integer("offset_group", default: 1))
    guard (1...3).contains(axes), filters.rank == source.rank, groups > 0, parts > 0, source[1] % groups == 0,
      source[1] % parts == 0, filters[0] % groups == 0, filters[1] == source[1] / groups
    else {
      throw c.emitter.invalid(
        "filters \(c.emitter.type(weights)) in \(groups) groups and \(parts) of offsets do not fit \(c.emitter.type(x))"
      )
    }
    let window = try c.window(kernel: Array(filters.dimensions.dropFirst(2)), over: x)
    let sizes = try c.count(of: window, over: x)
    let (elements, area) = (Shape(window.kernel).count, Shape(sizes).count)
    guard Shape([source[0], parts, axes, elements] + sizes).isAddressable else {
      throw c.emitter.invalid(
        "\(parts) groups of offsets of \(elements) elements for \(c.emitter.type(x)) are too large")
    }
    let expected = Shape([source[0], parts * axes * elements] + sizes)
    guard c.emitter.shape(offsets) == expected else {
      throw c.emitter.invalid("offsets \(c.emitter.type(offsets)), expected \(expected)")
    }
    let images = try c.emitter.reshape(
      x, Shape([source[0] * parts, source[1] / parts] + source.dimensions.dropFirst(2)), step: "offset_groups")
    let moved = try c.emitter.reshape(offsets, [source[0] * parts, elements, axes, area], step: "moves")
    let places = try (0..<axes).map { axis in
      let (stride, dilation, before) = (window.strides[axis], window.dilations[axis], window.before[axis])
      let (steps, inner) = (Shape(sizes).strides[axis], Shape(window.kernel).strides[axis])
      let still = try c.emitter.table(c.emitter.scalar(offsets), [1, elements, 1, area], step: "places_\(axis)/still") {
        (0..<elements).flatMap { element in
          (0..<area).map { point in
            Double(
              point / steps % sizes[axis] * stride - before + element / inner % window.kernel[axis] * dilation)
          }
        }
      }
      var (starts, counts) = ([0, 0, 0, 0], c.emitter.shape(moved).dimensions)
      (starts[2], counts[2]) = (axis, 1)
      let own = try c.emitter.add(
        Slice(starts: starts, counts: counts, steps: [1, 1, 1, 1]), moved, step: "places_\(axis)/moves")
      let sum = try c.emitter.binary(.add, own, still, step: "places_\(axis)/sum")
      return GridAxis(
        places: try c.emitter.reshape(sum, [source[0] * parts, elements * area], step: "places_\(axis)"),
        size: source[2 + axis])
    }
    let (pixels, first) = try c.emitter.pixels(of: images)
    var samples = try c.emitter.sample(
      pixels, places, first: first, GridSampler(interpolation: .linear, outside: .constant(0)))
    if let mask = c.optional(4) {
      let shares = try c.emitter.reshape(mask, [source[0] * parts, elements * area, 1], step: "shares")
      samples = try c.emitter.binary(.multiply, samples, shares, step: "masked")
    }
    // [N, channels, elements, points]; groups of it are multiplied with their filters.
    let split = try c.emitter.reshape(
      samples, [source[0], parts, elements, area, source[1] / parts], step: "samples_by_element")
    let channels = try c.emitter.transpose(split, [0, 1, 4, 2, 3], step: "channels_first")
    let columns = try c.emitter.reshape(
      channels, [source[0], groups, filters[1] * elements, area], step: "columns")
    let rows = try c.emitter.reshape(
      weights, [1, groups, filters[0] / groups, filters[1] * elements], step: "filter_rows")
    let product = try c.emitter.add(MatMul(), rows, columns, step: "product")
    let result = Shape([source[0], filters[0]] + sizes)
    guard let bias = c.optional(3) else { return [try c.emitter.reshape(product, result)] }
    let sums = try c.emitter.reshape(product, result, step: "sums")
    let column = try c.emitter.reshape(
      bias, Shape([1, filters[0]] + sizes.map { _ in 1 }), step: "bias")
    return [try c.emitter.binary(.add, sums, column)]
  }
}

import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let resizing: [ONNXMapper] = [upsample, resize]

  /// An upsampling. Scales are an attribute before operator set 9, and an input from then on.
  private static let upsample = ONNXMapper("Upsample", valueDependent: [1]) { c in
    let x = try c.input(0)
    let rank = c.emitter.shape(x).rank
    let named: [Double]?
    if let scales = c.node.attributes["scales"] {
      named = scales.floats.map(Double.init)
    } else {
      named = try c.numbers(1, "scales")
    }
    guard let scales = named, scales.count == rank else { throw c.emitter.invalid("expected \(rank) scales") }
    let interpolation: Resize.Interpolation
    switch c.text("mode", default: "nearest") {
    case "nearest": interpolation = .nearest(.floor)
    case "linear", "bilinear": interpolation = .linear
    case let other: throw c.unsupported("mode '\(other)'")
    }
    var axes: [(axis: Int, size: Int, sampling: Sampling)] = []
    for (axis, scale) in scales.enumerated() {
      let length = c.emitter.shape(x)[axis]
      axes.append((axis, try c.size(length, scaled: scale), .asymmetric(1 / scale).ofRoundedScale(length)))
    }
    guard !axes.contains(where: { $0.size == 0 }) else {
      let sizes = Shape(axes.map(\.size))
      return [try c.emitter.fill(sizes, with: Tensor(TensorType(c.emitter.scalar(x), []), rounding: [0]))]
    }
    return [try c.emitter.resize(x, axes, interpolation)]
  }

  /// A resizing. Operator set 10 has scales as input 1 and the convention of `Upsample`. Later sets have a region of
  /// interest, scales or sizes, and several conventions.
  private static let resize = ONNXMapper("Resize", valueDependent: [1, 2, 3]) { c in
    let given = c.emitter.scalar(try c.input(0))
    let isBlended = !given.isFloatingPoint && c.text("mode", default: "nearest") != "nearest"
    let x = isBlended ? try c.emitter.cast(try c.input(0), to: given.blended, step: "real") : try c.input(0)
    /// Rounds results for integer inputs to the nearest integers.
    func whole(_ make: (_ step: String?) throws -> ValueID) throws -> [ValueID] {
      isBlended ? [try c.emitter.rounded(try make("resized"), to: given)] : [try make(nil)]
    }
    let rank = c.emitter.shape(x).rank
    let isFirst = c.opset < 11
    let named = try c.integers("axes").map { axes in try axes.map { try c.emitter.axis($0, of: x) } }
    let axes = named ?? Array(0..<rank)
    guard Set(axes).count == axes.count else { throw c.emitter.invalid("axes \(axes) are not different") }
    let scales = try c.numbers(isFirst ? 1 : 2, "scales").flatMap { $0.isEmpty ? nil : $0 }
    let requested = isFirst ? nil : try c.constantIntegers(3, "sizes").flatMap { $0.isEmpty ? nil : $0 }
    guard (scales?.count ?? requested?.count) == axes.count else {
      throw c.emitter.invalid("expected scales or sizes for \(axes.count) axes")
    }
    var targets: [(size: Int, scale: Double)] = []
    for (index, axis) in axes.enumerated() {
      let length = c.emitter.shape(x)[axis]
      if let scales {
        targets.append((try c.size(length, scaled: scales[index]), scales[index]))
      } else if let requested {
        guard (0..<(1 << 31)).contains(requested[index]), length > 0 || requested[index] == 0 else {
          throw c.emitter.invalid("axis \(axis) of \(c.emitter.type(x)) cannot take size \(requested[index])")
        }
        targets.append((requested[index], length == 0 ? 1 : Double(requested[index]) / Double(length)))
      }
    }
    if requested != nil { try c.keepAspectRatio(&targets, axes.map { c.emitter.shape(x)[$0] }) }
    guard targets.allSatisfy({ $0.scale > 0 }) else {
      throw c.emitter.invalid("a size of 0 along an axis that has elements")
    }
    if targets.contains(where: { $0.size == 0 }) || c.emitter.shape(x).count == 0 {
      var sizes = c.emitter.shape(x)
      for (index, axis) in axes.enumerated() { sizes[axis] = targets[index].size }
      return [try c.emitter.fill(sizes, with: Tensor(TensorType(given, []), rounding: [0]))]
    }
    let convention = c.text("coordinate_transformation_mode", default: isFirst ? "asymmetric" : "half_pixel")
    let region = convention == "tf_crop_and_resize" ? try c.numbers(1, "roi") : nil
    var resized: [(axis: Int, size: Int, sampling: Sampling)] = []
    for (index, axis) in axes.enumerated() {
      let corners = region.flatMap { $0.count == 2 * axes.count ? ($0[index], $0[axes.count + index]) : nil }
      let length = c.emitter.shape(x)[axis]
      let sampling = try c.sampling(convention, length, targets[index], corners)
      resized.append((axis, targets[index].size, scales == nil ? sampling : sampling.ofRoundedScale(length)))
    }
    let filter = try c.filter()
    func resize(step: String?) throws -> ValueID {
      if let filter { return try c.emitter.resample(x, resized, ratios: targets.map { 1 / $0.scale }, filter) }
      return try c.emitter.resize(x, resized, try c.interpolation(isFirst), step: step)
    }
    guard region != nil else { return try whole(resize) }
    // Positions outside the input are neither interpolated nor repeated.
    var (before, after) = ([Int](repeating: 0, count: rank), [Int](repeating: 0, count: rank))
    var sizes = c.emitter.shape(x)
    for (index, (axis, size, sampling)) in resized.enumerated() {
      let inside = sampling.inside(sizes[axis], of: size)
      (sizes[axis], before[axis], after[axis]) = (size, inside.lowerBound, size - inside.upperBound)
      resized[index] = (axis, inside.count, sampling.from(inside.lowerBound))
    }
    let value = Tensor([c.float("extrapolation_value", default: 0)], [])
    guard resized.allSatisfy({ $0.size > 0 }) else {
      return [try c.emitter.fill(sizes, with: value.converted(to: given))]
    }
    guard (before + after).contains(where: { $0 > 0 }) else { return try whole(resize) }
    return try whole {
      try c.emitter.pad(try resize(step: "inside"), before: before, after: after, value: value, step: $0)
    }
  }
}

extension Sampling {
  /// Returns the same coordinates with a tolerance for scales that were rounded to float32: three steps of 1 / 0.6 are
  /// 5.
  fileprivate func ofRoundedScale(_ length: Int) -> Sampling {
    Sampling(scale: scale, offset: offset, slack: max(slack, Double(length) * 0x1p-23))
  }
}

extension ONNXOperation {
  /// Returns the filter of a resizing that reads more elements than the neighbors of a coordinate; nil for other
  /// resizings.
  fileprivate func filter() throws -> ResampleFilter? {
    let isCubic = text("mode", default: "nearest") == "cubic"
    guard isCubic || flag("antialias") else { return nil }
    guard isCubic || text("mode", default: "nearest") == "linear" else {
      throw emitter.invalid("antialias without interpolation")
    }
    return ResampleFilter(
      kind: isCubic ? .cubic(a: Double(float("cubic_coeff_a", default: -0.75))) : .linear,
      isAntialiased: flag("antialias"), excludesOutside: flag("exclude_outside"))
  }

  /// Returns the constant numbers of an input, or nil if it is omitted.
  func numbers(_ index: Int, _ meaning: String) throws -> [Double]? {
    guard let id = try valueDependent(index) else { return nil }
    guard let weight = emitter.weight(id), weight.type.count <= 1024 else {
      throw unsupported("its \(meaning) depend on the input's values")
    }
    return weight.dense().doubles
  }

  /// Returns `floor(length · scale)`. The product is rounded to float32 like the scale, so that 60 · 0.35 is 21.
  fileprivate func size(_ length: Int, scaled scale: Double) throws -> Int {
    let size = Double(Float(length) * Float(scale)).rounded(.down)
    guard scale.isFinite, scale > 0, size < 0x1p31 else { throw emitter.invalid("a scale of \(scale)") }
    return Int(size)
  }

  fileprivate func interpolation(_ isFirst: Bool) throws -> Resize.Interpolation {
    switch text("mode", default: "nearest") {
    case "linear": return .linear
    case "nearest":
      switch text("nearest_mode", default: isFirst ? "floor" : "round_prefer_floor") {
      case "round_prefer_floor": return .nearest(.halfDown)
      case "round_prefer_ceil": return .nearest(.halfUp)
      case "floor": return .nearest(.floor)
      case "ceil": return .nearest(.ceil)
      case let other: throw emitter.invalid("nearest_mode '\(other)' is not known")
      }
    case let other: throw unsupported("mode '\(other)'", remedy: "export it with linear interpolation")
    }
  }

  /// Changes sizes to keep the aspect ratio: no axis exceeds its size, or none is below it.
  fileprivate func keepAspectRatio(_ targets: inout [(size: Int, scale: Double)], _ lengths: [Int]) throws {
    let scales = zip(targets, lengths).filter { $1 > 0 }.map(\.0.scale)
    let scale: Double?
    switch text("keep_aspect_ratio_policy", default: "stretch") {
    case "stretch": return
    case "not_larger": scale = scales.min()
    case "not_smaller": scale = scales.max()
    case let other: throw emitter.invalid("keep_aspect_ratio_policy '\(other)' is not known")
    }
    guard let scale else { return }
    for (index, length) in lengths.enumerated() {
      let size = (scale * Double(length) + 0.5).rounded(.down)
      guard size < 0x1p31 else { throw emitter.invalid("a size of \(size)") }
      targets[index] = (Int(size), scale)
    }
  }

  fileprivate func sampling(
    _ convention: String, _ length: Int, _ target: (size: Int, scale: Double), _ corners: (Double, Double)?
  ) throws -> Sampling {
    let ratio = 1 / target.scale
    switch convention {
    case "half_pixel": return .halfPixel(ratio)
    case "pytorch_half_pixel": return target.size > 1 ? .halfPixel(ratio) : Sampling(scale: 0, offset: 0)
    case "half_pixel_symmetric":
      // The grid stays centered if the size is not an exact multiple of the scale.
      let adjustment = Double(target.size) / (target.scale * Double(length))
      let shift = Double(length) / 2 * (1 - adjustment)
      return Sampling(scale: ratio, offset: shift + 0.5 * ratio - 0.5)
    case "asymmetric": return .asymmetric(ratio)
    case "align_corners": return .alignedCorners(length, target.size)
    case "tf_half_pixel_for_nn": return Sampling(scale: ratio, offset: 0.5 * ratio)
    case "tf_crop_and_resize":
      guard let (start, end) = corners else { throw emitter.invalid("its region of interest does not fit its axes") }
      guard start.isFinite, end.isFinite else { throw emitter.invalid("a region of interest from \(start) to \(end)") }
      let reach = Double(length - 1)
      return target.size > 1
        ? Sampling(scale: (end - start) * reach / Double(target.size - 1), offset: start * reach)
        : Sampling(scale: 0, offset: 0.5 * (start + end) * reach)
    case let other: throw unsupported("coordinate_transformation_mode '\(other)'")
    }
  }
}

import KelvinGraph
import KelvinImport

extension LayerMapper {
  static let images: [LayerMapper] = [padding, crop, reorganizeData, upsample, resizeBilinear, cropResize]

  private static let padding = LayerMapper(Layers.padding) { c in
    typealias Fields = LayerSchema.PaddingLayerParams
    var x = try c.input(0)
    let isMatrix = x.shape.rank == 2
    if isMatrix { x.shape = Shape([1] + x.shape.dimensions) }
    let borders = try c.message(Fields.paddingAmounts)?.borders(c.emitter) ?? [(0, 0), (0, 0)]
    let mode: Pad.Mode
    switch try c.choice(among: [Fields.constant, Fields.reflection, Fields.replication]) {
    case Fields.reflection: mode = .reflect
    case Fields.replication: mode = .edge
    default:
      mode = .constant(try c.message(Fields.constant)?.number(Fields.PaddingConstant.value) ?? 0)
    }
    let before = [0, 0] + borders.map(\.before)
    let after = [0, 0] + borders.map(\.after)
    let padded = c.fromPlanes(try c.emitter.pad(try c.planes(x), before: before, after: after, mode: mode), x)
    return isMatrix ? Blob(padded.id, Shape(Array(padded.shape.dimensions.dropFirst()))) : padded
  }

  /// Removes borders, or crops to the rows and columns of a second input.
  private static let crop = LayerMapper(Layers.crop) { c in
    typealias Fields = LayerSchema.CropLayerParams
    let x = try c.input(0)
    let planes = try c.planes(x)
    let shape = c.emitter.shape(planes)
    var ranges = shape.dimensions.map { SliceRange(start: 0, count: $0) }
    if c.inputs.count > 1 {
      let reference = try c.planeShape(try c.raw(1))
      let offset = try c.pair(Fields.offset, default: 0)
      for axis in 2...3 { ranges[axis] = SliceRange(start: offset[axis - 2], count: reference[axis]) }
    } else {
      let borders = try c.message(Fields.cropAmounts)?.borders(c.emitter) ?? [(0, 0), (0, 0)]
      for (axis, border) in borders.enumerated() {
        ranges[2 + axis] = SliceRange(start: border.before, count: shape[2 + axis] - border.before - border.after)
      }
    }
    for axis in 2...3 {
      let (last, overflow) = ranges[axis].start.addingReportingOverflow(ranges[axis].count)
      guard ranges[axis].count > 0, ranges[axis].start >= 0, !overflow, last <= shape[axis] else {
        throw c.emitter.invalid(
          "\(ranges[axis].count) elements from \(ranges[axis].start) are not in axis \(axis) of \(shape)")
      }
    }
    return c.fromPlanes(try c.emitter.slice(planes, ranges), x)
  }

  /// Rearranges blocks of pixels to channels, or channels to blocks of pixels.
  private static let reorganizeData = LayerMapper(Layers.reorganizeData) { c in
    typealias Fields = LayerSchema.ReorganizeDataLayerParams
    let x = try c.input(0)
    let planes = try c.planes(x)
    let block = try c.integer(Fields.blockSize)
    guard (1..<(1 << 15)).contains(block) else { throw c.emitter.invalid("blocks of \(block)") }
    switch try c.integer(Fields.mode) {
    case Fields.ReorganizationType.spaceToDepth:
      return c.fromPlanes(try c.emitter.spaceToDepth(planes, block: block), x)
    case Fields.ReorganizationType.depthToSpace:
      return c.fromPlanes(try c.emitter.depthToSpace(planes, block: block, blockIsOuter: true), x)
    case Fields.ReorganizationType.pixelShuffle:
      return c.fromPlanes(try c.emitter.depthToSpace(planes, block: block, blockIsOuter: false), x)
    case let mode: throw c.emitter.invalid("mode \(mode) is not known")
    }
  }

  private static let upsample = LayerMapper(Layers.upsample) { c in
    typealias Fields = LayerSchema.UpsampleLayerParams
    let x = try c.input(0)
    let planes = try c.planes(x)
    let shape = c.emitter.shape(planes)
    let fractions = try c.parameters.numbers(Fields.fractionalScalingFactor, limit: 16).map(Double.init)
    let factors = fractions.count == 2 ? fractions : try c.pair(Fields.scalingFactor, default: 1).map(Double.init)
    let isLinear = try c.integer(Fields.mode) == Fields.InterpolationMode.bilinear
    let alignment = try c.integer(Fields.linearUpsampleMode)
    var axes: [ResizeAxis] = []
    for (index, factor) in factors.enumerated() {
      let size = shape[2 + index]
      // The product is rounded to float32 like the factor, so that 60 · 0.35 is 21.
      let scaled = Double(Float(size) * Float(factor)).rounded(.down)
      guard scaled >= 1, scaled < 0x1p31 else { throw c.emitter.invalid("\(shape) by a factor of \(factor)") }
      let grid: Sampling
      if !isLinear {
        grid = Sampling(scale: 1 / factor, offset: 0.5 / factor)
      } else {
        switch alignment {
        case Fields.LinearUpsampleMode.alignCornersTrue: grid = .alignedCorners(size, Int(scaled))
        case Fields.LinearUpsampleMode.alignCornersFalse: grid = .halfPixel(Double(size) / scaled)
        default: grid = .asymmetric(Double(size) / scaled)
        }
      }
      axes.append(ResizeAxis(axis: 2 + index, size: Int(scaled), scale: grid.scale, offset: grid.offset))
    }
    let op = Resize(axes: axes, interpolation: isLinear ? .linear : .nearest(.floor))
    return c.fromPlanes(try c.emitter.add(op, planes), x)
  }

  private static let resizeBilinear = LayerMapper(Layers.resizeBilinear) { c in
    typealias Fields = LayerSchema.ResizeBilinearLayerParams
    let x = try c.input(0)
    let planes = try c.planes(x)
    let shape = c.emitter.shape(planes)
    let targets = try c.pair(Fields.targetSize, default: 1)
    var axes: [ResizeAxis] = []
    for (index, target) in targets.enumerated() {
      guard (1..<(1 << 31)).contains(target) else { throw c.emitter.invalid("a target size of \(target)") }
      let grid = try c.samplingMode(Fields.mode).sampling(shape[2 + index], target)
      axes.append(ResizeAxis(axis: 2 + index, size: target, scale: grid.scale, offset: grid.offset))
    }
    return c.fromPlanes(try c.emitter.add(Resize(axes: axes, interpolation: .linear), planes), x)
  }

  /// Crops boxes of images and resizes them: `[N, images, C, H, W]`.
  private static let cropResize = LayerMapper(Layers.cropResize) { c in
    typealias Fields = LayerSchema.CropResizeLayerParams
    typealias Boxes = LayerSchema.BoxCoordinatesMode
    let (x, regions) = (try c.input(0), try c.input(1))
    let mode = try c.message(Fields.boxIndicesMode)?.integer(Boxes.boxMode) ?? 0
    let spacing = try c.samplingMode(Fields.mode).spacing
    guard (0...3).contains(mode) else { throw c.emitter.invalid("box mode \(mode) is not known") }
    let crop = BoxCrop(
      boxes: try c.emitter.boxes(try c.logical(regions)),
      format: BoxCrop.Format(
        hasCorners: mode == Boxes.Coordinates.cornersHeightFirst || mode == Boxes.Coordinates.cornersWidthFirst,
        isHeightFirst: mode == Boxes.Coordinates.cornersHeightFirst || mode == Boxes.Coordinates.centerSizeHeightFirst),
      isNormalized: try c.flag(Fields.normalizedCoordinates),
      factor: try c.number(Fields.spatialScale, default: 1),
      targets: try c.pair(Fields.targetSize, default: 1), spacing: spacing,
      outside: .extrapolation(0), staysInside: true)
    let result = try c.emitter.crop(try c.planes(x), crop)
    return Blob(result, c.emitter.shape(result))
  }
}

extension LayerContext {
  /// Returns the grid that a `SamplingMode` field names.
  fileprivate func samplingMode(_ field: Int) throws -> SamplingMode {
    typealias Method = LayerSchema.SamplingMode.Method
    switch try message(field)?.integer(LayerSchema.SamplingMode.samplingMethod) ?? 0 {
    case Method.strictAlignEndpointsMode: return .strictAlignCorners
    case Method.alignEndpointsMode: return .alignCorners
    case Method.upsampleMode: return .standard
    case Method.roiAlignMode: return .offsetCorners
    case let method: throw emitter.invalid("sampling method \(method) is not known")
    }
  }
}

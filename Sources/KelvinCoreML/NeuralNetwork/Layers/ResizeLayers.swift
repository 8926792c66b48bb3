import KelvinGraph
import KelvinImport

extension LayerMapper {
  static let upsample = LayerMapper(Layers.upsample) { c in
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
      let grid: Grid
      if !isLinear {
        grid = Grid(scale: 1 / factor, offset: 0.5 / factor)
      } else {
        switch alignment {
        case Fields.LinearUpsampleMode.alignCornersTrue: grid = .endpoints(size, Int(scaled))
        case Fields.LinearUpsampleMode.alignCornersFalse:
          let spacing = Double(size) / scaled
          grid = Grid(scale: spacing, offset: 0.5 * spacing - 0.5)
        default: grid = .upsampling(size, Int(scaled))
        }
      }
      axes.append(ResizeAxis(axis: 2 + index, size: Int(scaled), scale: grid.scale, offset: grid.offset))
    }
    let op = Resize(axes: axes, interpolation: isLinear ? .linear : .nearest(.floor))
    return c.fromPlanes(try c.emitter.add(op, planes), x)
  }

  static let resizeBilinear = LayerMapper(Layers.resizeBilinear) { c in
    typealias Fields = LayerSchema.ResizeBilinearLayerParams
    let x = try c.input(0)
    let planes = try c.planes(x)
    let shape = c.emitter.shape(planes)
    let targets = try c.pair(Fields.targetSize, default: 1)
    let method = try c.message(Fields.mode)?.integer(LayerSchema.SamplingMode.samplingMethod) ?? 0
    var axes: [ResizeAxis] = []
    for (index, target) in targets.enumerated() {
      guard (1..<(1 << 31)).contains(target) else { throw c.emitter.invalid("a target size of \(target)") }
      guard let grid = Grid(method: method, from: shape[2 + index], to: target) else {
        throw c.emitter.invalid("sampling method \(method) is not known")
      }
      axes.append(ResizeAxis(axis: 2 + index, size: target, scale: grid.scale, offset: grid.offset))
    }
    return c.fromPlanes(try c.emitter.add(Resize(axes: axes, interpolation: .linear), planes), x)
  }
}

extension LayerMapper {
  /// Crops boxes of images and resizes them: `[N, images, C, H, W]`.
  static let cropResize = LayerMapper(Layers.cropResize) { c in
    typealias Fields = LayerSchema.CropResizeLayerParams
    typealias Boxes = LayerSchema.BoxCoordinatesMode
    typealias Method = LayerSchema.SamplingMode.Method
    let (x, regions) = (try c.input(0), try c.input(1))
    let mode = try c.message(Fields.boxIndicesMode)?.integer(Boxes.boxMode) ?? 0
    let method = try c.message(Fields.mode)?.integer(LayerSchema.SamplingMode.samplingMethod) ?? 0
    let spacing: BoxCrop.Spacing
    switch method {
    case Method.strictAlignEndpointsMode: spacing = .endpoints(alone: 0)
    case Method.alignEndpointsMode: spacing = .endpoints(alone: 0.5)
    case Method.upsampleMode: spacing = .upsampling
    case Method.roiAlignMode: spacing = .offset
    default: throw c.emitter.invalid("sampling method \(method) is not known")
    }
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

/// Equally spaced sampling points on an axis: `scale · i + offset`.
private struct Grid {
  var scale: Double
  var offset: Double

  init(scale: Double, offset: Double) {
    self.scale = scale
    self.offset = offset
  }

  /// Creates the grid of a `SamplingMode`; nil for an unknown mode.
  init?(method: Int, from size: Int, to count: Int) {
    typealias Method = LayerSchema.SamplingMode.Method
    switch method {
    case Method.strictAlignEndpointsMode: self = .endpoints(size, count)
    case Method.alignEndpointsMode:
      self = count == 1 ? Grid(scale: 0, offset: Double(size - 1) / 2) : .endpoints(size, count)
    case Method.upsampleMode: self = .upsampling(size, count)
    case Method.roiAlignMode:
      let spacing = Double(max(1, size - 1)) / Double(count)
      self.init(scale: spacing, offset: 0.5 * spacing)
    default: return nil
    }
  }

  /// Returns a grid from the first element to the last.
  static func endpoints(_ size: Int, _ count: Int) -> Grid {
    Grid(scale: count == 1 ? 0 : Double(size - 1) / Double(count - 1), offset: 0)
  }

  /// Returns a grid from the first element to `size - size / count`.
  static func upsampling(_ size: Int, _ count: Int) -> Grid { Grid(scale: Double(size) / Double(count), offset: 0) }
}

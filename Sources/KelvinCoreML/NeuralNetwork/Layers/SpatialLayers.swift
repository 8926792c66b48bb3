import KelvinGraph
import KelvinImport

extension LayerMapper {
  static let padding = LayerMapper(Layers.padding) { c in
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
  static let crop = LayerMapper(Layers.crop) { c in
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
  static let reorganizeData = LayerMapper(Layers.reorganizeData) { c in
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
}

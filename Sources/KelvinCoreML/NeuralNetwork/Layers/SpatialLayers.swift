import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  static let padding = LayerMapper(Layers.padding) { layer, scope in
    typealias Fields = LayerSchema.PaddingLayerParams
    var x = try layer.input(0, scope)
    let isMatrix = x.shape.rank == 2
    if isMatrix { x.shape = Shape([1] + x.shape.dimensions) }
    let borders = try layer.parameters.message(Fields.paddingAmounts)?.borders(scope) ?? [(0, 0), (0, 0)]
    let mode: Pad.Mode
    switch try layer.parameters.choice(among: [Fields.constant, Fields.reflection, Fields.replication]) {
    case Fields.reflection: mode = .reflect
    case Fields.replication: mode = .edge
    default:
      mode = .constant(try layer.parameters.message(Fields.constant)?.number(Fields.PaddingConstant.value) ?? 0)
    }
    let before = [0, 0] + borders.map(\.before)
    let after = [0, 0] + borders.map(\.after)
    let padded = scope.fromPlanes(
      try scope.emitter.pad(try scope.planes(x), before: before, after: after, mode: mode), x)
    return isMatrix ? Blob(padded.id, Shape(Array(padded.shape.dimensions.dropFirst()))) : padded
  }

  /// Removes borders, or crops to the rows and columns of a second input.
  static let crop = LayerMapper(Layers.crop) { layer, scope in
    typealias Fields = LayerSchema.CropLayerParams
    let x = try layer.input(0, scope)
    let planes = try scope.planes(x)
    let shape = scope.emitter.shape(planes)
    var ranges = shape.dimensions.map { SliceRange(start: 0, count: $0) }
    if layer.inputs.count > 1 {
      let reference = try scope.planeShape(try layer.raw(1, scope))
      let offset = try layer.pair(Fields.offset, default: 0, scope)
      for axis in 2...3 { ranges[axis] = SliceRange(start: offset[axis - 2], count: reference[axis]) }
    } else {
      let borders = try layer.parameters.message(Fields.cropAmounts)?.borders(scope) ?? [(0, 0), (0, 0)]
      for (axis, border) in borders.enumerated() {
        ranges[2 + axis] = SliceRange(start: border.before, count: shape[2 + axis] - border.before - border.after)
      }
    }
    for axis in 2...3 {
      let (last, overflow) = ranges[axis].start.addingReportingOverflow(ranges[axis].count)
      guard ranges[axis].count > 0, ranges[axis].start >= 0, !overflow, last <= shape[axis] else {
        throw scope.emitter.invalid(
          "\(ranges[axis].count) elements from \(ranges[axis].start) are not in axis \(axis) of \(shape)")
      }
    }
    return scope.fromPlanes(try scope.emitter.slice(planes, ranges), x)
  }

  /// Rearranges blocks of pixels to channels, or channels to blocks of pixels.
  static let reorganizeData = LayerMapper(Layers.reorganizeData) { layer, scope in
    typealias Fields = LayerSchema.ReorganizeDataLayerParams
    let x = try layer.input(0, scope)
    let planes = try scope.planes(x)
    let block = try layer.parameters.integer(Fields.blockSize) ?? 0
    guard (1..<(1 << 15)).contains(block) else { throw scope.emitter.invalid("blocks of \(block)") }
    switch try layer.parameters.integer(Fields.mode) ?? 0 {
    case Fields.ReorganizationType.spaceToDepth:
      return scope.fromPlanes(try scope.emitter.spaceToDepth(planes, block: block), x)
    case Fields.ReorganizationType.depthToSpace:
      return scope.fromPlanes(try scope.emitter.depthToSpace(planes, block: block, blockIsOuter: true), x)
    case Fields.ReorganizationType.pixelShuffle:
      return scope.fromPlanes(try scope.emitter.depthToSpace(planes, block: block, blockIsOuter: false), x)
    case let mode: throw scope.emitter.invalid("mode \(mode) is not known")
    }
  }
}

import KelvinGraph
import KelvinImport

extension LayerMapper {
  private typealias Layers = NetworkSchema.NeuralNetworkLayer

  static let indexing: [LayerMapper] = [
    whereNonZero,
    gather, gatherND, gatherAlongAxis, scatter, scatterND, scatterAlongAxis, oneHot, slidingWindows,
  ]

  private static let gather = LayerMapper(Layers.gather) { layer, scope in
    let value = try scope.logical(try layer.raw(0, scope))
    let axis = try scope.emitter.axis(
      try layer.parameters.integer(LayerSchema.GatherLayerParams.axis) ?? 0, of: value)
    let indices = try scope.logical(try layer.indices(1, scope))
    return scope.ranked(try scope.emitter.add(Gather(axis: axis), value, indices))
  }

  private static let gatherND = LayerMapper(Layers.gatherND) { layer, scope in
    let value = try scope.logical(try layer.raw(0, scope))
    let indices = try scope.logical(try layer.indices(1, scope))
    return scope.ranked(try scope.emitter.add(GatherND(batchDimensions: 0), value, indices))
  }

  private static let gatherAlongAxis = LayerMapper(Layers.gatherAlongAxis) { layer, scope in
    let value = try scope.logical(try layer.raw(0, scope))
    let axis = try scope.emitter.axis(
      try layer.parameters.integer(LayerSchema.GatherAlongAxisLayerParams.axis) ?? 0, of: value)
    let indices = try scope.logical(try layer.indices(1, scope))
    return scope.ranked(try scope.emitter.add(GatherElements(axis: axis), value, indices))
  }

  /// Writes slices of the third input at the positions along an axis that the second input lists. In the third input,
  /// the axes of the positions replace that axis.
  private static let scatter = LayerMapper(Layers.scatter) { layer, scope in
    typealias Fields = LayerSchema.ScatterLayerParams
    let x = try layer.input(0, scope)
    let value = try scope.logical(x)
    let axis = try scope.emitter.axis(try layer.parameters.integer(Fields.axis) ?? 0, of: value)
    let indices = try layer.indices(1, scope)
    let (updates, reduction) = try layer.updates(Fields.mode, scope)
    let toFront = [axis] + (0..<x.shape.rank).filter { $0 != axis }
    let back = (0..<x.shape.rank).map { $0 < axis ? $0 + 1 : $0 == axis ? 0 : $0 }
    let (before, after) = (x.shape.dimensions[..<axis], x.shape.dimensions[(axis + 1)...])
    guard updates.shape.dimensions == before + indices.shape.dimensions + after else {
      throw scope.emitter.invalid(
        "its slices are \(updates.shape), expected \(Shape(before + indices.shape.dimensions + after))")
    }
    let listed = try scope.view(updates, Shape(before + [indices.shape.count] + after))
    let tuples = try scope.view(indices, [indices.shape.count, 1])
    let container = try scope.emitter.transpose(value, toFront, step: "container")
    let slices = try scope.emitter.transpose(listed, toFront, step: "slices")
    let isMoved = axis != 0
    let result = try scope.emitter.add(
      ScatterND(reduction: reduction), container, tuples, slices, step: isMoved ? "scattered" : nil)
    return Blob(try scope.emitter.transpose(result, back), x.shape)
  }

  private static let scatterND = LayerMapper(Layers.scatterND) { layer, scope in
    let x = try layer.input(0, scope)
    let indices = try scope.logical(try layer.indices(1, scope))
    let (updates, reduction) = try layer.updates(LayerSchema.ScatterNDLayerParams.mode, scope)
    let op = ScatterND(reduction: reduction)
    return Blob(try scope.emitter.add(op, try scope.logical(x), indices, try scope.logical(updates)), x.shape)
  }

  private static let scatterAlongAxis = LayerMapper(Layers.scatterAlongAxis) { layer, scope in
    typealias Fields = LayerSchema.ScatterAlongAxisLayerParams
    let x = try layer.input(0, scope)
    let value = try scope.logical(x)
    let axis = try scope.emitter.axis(try layer.parameters.integer(Fields.axis) ?? 0, of: value)
    let indices = try scope.logical(try layer.indices(1, scope))
    let (updates, reduction) = try layer.updates(Fields.mode, scope)
    let op = ScatterElements(axis: axis, reduction: reduction)
    return Blob(try scope.emitter.add(op, value, indices, try scope.logical(updates)), x.shape)
  }

  private static let oneHot = LayerMapper(Layers.oneHot, valueDependent: [1, 2, 3]) { layer, scope in
    typealias Fields = LayerSchema.OneHotLayerParams
    let x = try layer.indices(0, scope)
    func number(_ input: Int, otherwise value: Float) throws -> Float {
      guard layer.inputs.count > input else { return value }
      return try layer.known(input, scope).first.map(Float.init) ?? value
    }
    let stored = Float(try layer.parameters.integer(Fields.oneHotVectorSize) ?? 0)
    let size = Int(saturating: Double(try number(1, otherwise: stored)))
    let on = try number(2, otherwise: try layer.parameters.number(Fields.onValue) ?? 0)
    let off = try number(3, otherwise: try layer.parameters.number(Fields.offValue) ?? 0)
    guard (1..<(1 << 24)).contains(size) else { throw scope.emitter.invalid("vectors of \(size) elements") }
    let axis = try scope.emitter.axes([try layer.parameters.integer(Fields.axis) ?? 0], rank: x.shape.rank + 1)[0]
    let indices = try scope.logical(try scope.convert(x, to: .int32))
    let values = (scope.scalar(on, step: "on"), scope.scalar(off, step: "off"))
    let result = try scope.emitter.oneHot(indices, count: size, axis: axis, on: values.0, off: values.1)
    return Blob(result, scope.emitter.shape(result))
  }

  /// Returns the positions of nonzero elements, one per row.
  private static let whereNonZero = LayerMapper(Layers.whereNonZero, hasDataDependentShape: true) { layer, scope in
    let rows = try scope.emitter.nonZero(try scope.logical(try layer.input(0, scope)))
    return Blob(rows, scope.emitter.shape(rows))
  }

  /// The greatest number of positions, over all windows, that a layer may list.
  private static let positionLimit = 1 << 22

  /// Extracts windows along an axis, which becomes two axes: one for windows, one for their elements.
  private static let slidingWindows = LayerMapper(Layers.slidingWindows) { layer, scope in
    typealias Fields = LayerSchema.SlidingWindowsLayerParams
    let value = try scope.logical(try layer.raw(0, scope))
    let axis = try scope.emitter.axis(try layer.parameters.integer(Fields.axis) ?? 0, of: value)
    let size = try layer.parameters.integer(Fields.windowSize) ?? 0
    let step = try layer.parameters.integer(Fields.step, default: 1)
    let length = scope.emitter.shape(value)[axis]
    guard size > 0, step > 0, size <= length else {
      throw scope.emitter.invalid("windows of \(size) by \(step) along an axis of \(length)")
    }
    let count = (length - size) / step + 1
    let (total, overflow) = count.multipliedReportingOverflow(by: size)
    guard !overflow, total <= positionLimit else {
      throw scope.emitter.invalid(
        "\(count) windows of \(size) elements, expected at most \(positionLimit) positions; use a larger step")
    }
    guard Int32(exactly: (count - 1) * step + size) != nil else {
      throw scope.emitter.invalid("windows that reach beyond \(Int32.max) elements")
    }
    let type = TensorType(.int32, [count, size])
    let indices = scope.emitter.constant(
      Weight(type) {
        Tensor(
          type,
          Bytes(count: type.byteCount) { raw in
            let positions = raw.bindMemory(to: Int32.self)
            for start in 0..<count {
              for element in 0..<size { positions[start * size + element] = Int32(start * step + element) }
            }
          })
      }, step: "positions")
    return scope.ranked(try scope.emitter.add(Gather(axis: axis), value, indices))
  }
}

extension NetworkLayer {
  /// Returns the third input of a scatter, and how it is combined with the first.
  fileprivate func updates(_ field: Int, _ scope: LayerScope) throws -> (Blob, ScatterReduction) {
    typealias Mode = LayerSchema.ScatterMode
    let updates = try input(2, scope)
    switch try parameters.integer(field) ?? 0 {
    case Mode.scatterUpdate: return (updates, .replace)
    case Mode.scatterAdd: return (updates, .add)
    case Mode.scatterSub: return (try scope.unary(UnaryFunction(.negate), updates, step: "negated"), .add)
    case Mode.scatterMul: return (updates, .multiply)
    case Mode.scatterDiv: return (try scope.unary(UnaryFunction(.reciprocal), updates, step: "inverse"), .multiply)
    case Mode.scatterMax: return (updates, .maximum)
    case Mode.scatterMin: return (updates, .minimum)
    case let mode: throw scope.emitter.invalid("mode \(mode) is not known")
    }
  }
}

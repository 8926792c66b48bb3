import KelvinGraph
import KelvinImport

extension LayerMapper {
  static let indexing: [LayerMapper] = [
    whereNonZero,
    gather, gatherND, gatherAlongAxis, scatter, scatterND, scatterAlongAxis, oneHot, slidingWindows,
  ]

  private static let gather = LayerMapper(Layers.gather) { c in
    let value = try c.rawLogical(0)
    let axis = try c.axis(LayerSchema.GatherLayerParams.axis, of: value)
    let indices = try c.logicalIndices(1)
    return c.ranked(try c.emitter.add(Gather(axis: axis), value, indices))
  }

  private static let gatherND = LayerMapper(Layers.gatherND) { c in
    let value = try c.rawLogical(0)
    let indices = try c.logicalIndices(1)
    return c.ranked(try c.emitter.add(GatherND(batchDimensions: 0), value, indices))
  }

  private static let gatherAlongAxis = LayerMapper(Layers.gatherAlongAxis) { c in
    let value = try c.rawLogical(0)
    let axis = try c.axis(LayerSchema.GatherAlongAxisLayerParams.axis, of: value)
    let indices = try c.logicalIndices(1)
    return c.ranked(try c.emitter.add(GatherElements(axis: axis), value, indices))
  }

  /// Writes slices of the third input at the positions along an axis that the second input lists. In the third input,
  /// the axes of the positions replace that axis.
  private static let scatter = LayerMapper(Layers.scatter) { c in
    typealias Fields = LayerSchema.ScatterLayerParams
    let x = try c.input(0)
    let value = try c.logical(x)
    let axis = try c.axis(Fields.axis, of: value)
    let indices = try c.indices(1)
    let (updates, reduction) = try c.updates(Fields.mode)
    let toFront = [axis] + (0..<x.shape.rank).filter { $0 != axis }
    let back = (0..<x.shape.rank).map { $0 < axis ? $0 + 1 : $0 == axis ? 0 : $0 }
    let (before, after) = (x.shape.dimensions[..<axis], x.shape.dimensions[(axis + 1)...])
    guard updates.shape.dimensions == before + indices.shape.dimensions + after else {
      throw c.emitter.invalid(
        "its slices are \(updates.shape), expected \(Shape(before + indices.shape.dimensions + after))")
    }
    let listed = try c.view(updates, Shape(before + [indices.shape.count] + after))
    let tuples = try c.view(indices, [indices.shape.count, 1])
    let container = try c.emitter.transpose(value, toFront, step: "container")
    let slices = try c.emitter.transpose(listed, toFront, step: "slices")
    let isMoved = axis != 0
    let result = try c.emitter.add(
      ScatterND(reduction: reduction), container, tuples, slices, step: isMoved ? "scattered" : nil)
    return Blob(try c.emitter.transpose(result, back), x.shape)
  }

  private static let scatterND = LayerMapper(Layers.scatterND) { c in
    let x = try c.input(0)
    let indices = try c.logicalIndices(1)
    let (updates, reduction) = try c.updates(LayerSchema.ScatterNDLayerParams.mode)
    let op = ScatterND(reduction: reduction)
    return Blob(try c.emitter.add(op, try c.logical(x), indices, try c.logical(updates)), x.shape)
  }

  private static let scatterAlongAxis = LayerMapper(Layers.scatterAlongAxis) { c in
    typealias Fields = LayerSchema.ScatterAlongAxisLayerParams
    let x = try c.input(0)
    let value = try c.logical(x)
    let axis = try c.axis(Fields.axis, of: value)
    let indices = try c.logicalIndices(1)
    let (updates, reduction) = try c.updates(Fields.mode)
    let op = ScatterElements(axis: axis, reduction: reduction)
    return Blob(try c.emitter.add(op, value, indices, try c.logical(updates)), x.shape)
  }

  private static let oneHot = LayerMapper(Layers.oneHot, valueDependent: [1, 2, 3]) { c in
    typealias Fields = LayerSchema.OneHotLayerParams
    let x = try c.indices(0)
    func number(_ input: Int, otherwise value: Float) throws -> Float {
      guard c.inputs.count > input else { return value }
      return try c.known(input).first.map(Float.init) ?? value
    }
    let stored = Float(try c.integer(Fields.oneHotVectorSize))
    let size = Int(saturating: Double(try number(1, otherwise: stored)))
    let on = try number(2, otherwise: try c.number(Fields.onValue))
    let off = try number(3, otherwise: try c.number(Fields.offValue))
    guard (1..<(1 << 24)).contains(size) else { throw c.emitter.invalid("vectors of \(size) elements") }
    let axis = try c.emitter.axes([try c.integer(Fields.axis)], rank: x.shape.rank + 1)[0]
    let indices = try c.logical(try c.convert(x, to: .int32))
    let values = (c.scalar(on, step: "on"), c.scalar(off, step: "off"))
    let result = try c.emitter.oneHot(indices, count: size, axis: axis, on: values.0, off: values.1)
    return Blob(result, c.emitter.shape(result))
  }

  /// Returns the positions of nonzero elements, one per row.
  private static let whereNonZero = LayerMapper(Layers.whereNonZero, hasDataDependentShape: true) { c in
    let rows = try c.emitter.nonZero(try c.logical(0))
    return Blob(rows, c.emitter.shape(rows))
  }

  /// The greatest number of positions, over all windows, that a layer may list.
  private static let positionLimit = 1 << 22

  /// Extracts windows along an axis, which becomes two axes: one for windows, one for their elements.
  private static let slidingWindows = LayerMapper(Layers.slidingWindows) { c in
    typealias Fields = LayerSchema.SlidingWindowsLayerParams
    let value = try c.rawLogical(0)
    let axis = try c.axis(Fields.axis, of: value)
    let size = try c.integer(Fields.windowSize)
    let step = try c.integer(Fields.step, default: 1)
    let length = c.emitter.shape(value)[axis]
    guard size > 0, step > 0, size <= length else {
      throw c.emitter.invalid("windows of \(size) by \(step) along an axis of \(length)")
    }
    let count = (length - size) / step + 1
    let (total, overflow) = count.multipliedReportingOverflow(by: size)
    guard !overflow, total <= positionLimit else {
      throw c.emitter.invalid(
        "\(count) windows of \(size) elements, expected at most \(positionLimit) positions; use a larger step")
    }
    guard Int32(exactly: (count - 1) * step + size) != nil else {
      throw c.emitter.invalid("windows that reach beyond \(Int32.max) elements")
    }
    let type = TensorType(.int32, [count, size])
    let indices = c.emitter.constant(
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
    return c.ranked(try c.emitter.add(Gather(axis: axis), value, indices))
  }
}

extension LayerContext {
  /// Returns the third input of a scatter, and how it is combined with the first.
  fileprivate func updates(_ field: Int) throws -> (Blob, ScatterReduction) {
    typealias Mode = LayerSchema.ScatterMode
    let updates = try input(2)
    switch try integer(field) {
    case Mode.scatterUpdate: return (updates, .replace)
    case Mode.scatterAdd: return (updates, .add)
    case Mode.scatterSub: return (try unary(UnaryFunction(.negate), updates, step: "negated"), .add)
    case Mode.scatterMul: return (updates, .multiply)
    case Mode.scatterDiv: return (try unary(UnaryFunction(.reciprocal), updates, step: "inverse"), .multiply)
    case Mode.scatterMax: return (updates, .maximum)
    case Mode.scatterMin: return (updates, .minimum)
    case let mode: throw emitter.invalid("mode \(mode) is not known")
    }
  }
}

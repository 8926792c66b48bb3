import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Operations that read or write elements by position.
  static let indexing: [MILMapper] = [
    gather, gatherAlongAxis, gatherND, scatter, scatterAlongAxis, scatterND, oneHot, topK, argSort, cumulativeSum,
  ]

  private static let gather = MILMapper("gather") { operation, scope in
    let x = try operation.value("x", scope)
    let indices = try operation.value("indices", scope)
    let axis = try scope.emitter.axis(try operation.integer("axis", scope) ?? 0, of: x)
    let places = try operation.validated(indices, [scope.emitter.shape(x)[axis]], scope)
    return try scope.emitter.gather(x, places, axis: axis, batch: try operation.integer("batch_dims", scope) ?? 0)
  }

  private static let gatherAlongAxis = MILMapper("gather_along_axis") { operation, scope in
    let x = try operation.value("x", scope)
    let indices = try operation.value("indices", scope)
    let axis = try scope.emitter.axis(try operation.integer("axis", scope) ?? 0, of: x)
    let places = try operation.validated(indices, [scope.emitter.shape(x)[axis]], scope)
    return try scope.emitter.add(GatherElements(axis: axis), x, places)
  }

  private static let gatherND = MILMapper("gather_nd") { operation, scope in
    let x = try operation.value("x", scope)
    let indices = try operation.value("indices", scope)
    let batch = try operation.integer("batch_dims", scope) ?? 0
    let (rank, depth) = (scope.emitter.shape(x).rank, scope.emitter.shape(indices).dimensions.last ?? 0)
    guard batch >= 0, depth <= rank - min(batch, rank) else {
      throw scope.emitter.invalid("tuples of \(depth) indices behind \(batch) batch axes of \(scope.emitter.type(x))")
    }
    let sizes = Array(scope.emitter.shape(x).dimensions.dropFirst(batch).prefix(depth))
    let places = try operation.validated(indices, sizes, scope)
    return try scope.emitter.add(GatherND(batchDimensions: batch), x, places)
  }

  /// Writes whole slices along the axis, one for each index.
  private static let scatter = MILMapper("scatter") { operation, scope in
    let x = try operation.value("data", scope)
    let indices = try operation.value("indices", scope)
    let updates = try operation.value("updates", scope)
    let axis = try scope.emitter.axis(try operation.integer("axis", scope) ?? 0, of: x)
    let shape = scope.emitter.shape(updates)
    guard shape.rank == scope.emitter.shape(x).rank, scope.emitter.shape(indices).count == shape[axis] else {
      throw scope.emitter.invalid("\(scope.emitter.type(indices)) for updates \(scope.emitter.type(updates))")
    }
    var along = [Int](repeating: 1, count: shape.rank)
    along[axis] = shape[axis]
    let (places, skips) = try operation.places(indices, [scope.emitter.shape(x)[axis]], scope)
    let raised = try scope.emitter.reshape(places, Shape(along), step: "raised")
    let everywhere = try scope.emitter.add(Expand(shape), raised, step: "expanded")
    let (reduction, terms) = try operation.scatterMode("update", updates, scope)
    let op = ScatterElements(axis: axis, reduction: reduction, skipsOutside: skips)
    return try scope.emitter.add(op, x, everywhere, terms)
  }

  private static let scatterAlongAxis = MILMapper("scatter_along_axis") { operation, scope in
    let x = try operation.value("data", scope)
    let indices = try operation.value("indices", scope)
    let updates = try operation.value("updates", scope)
    let axis = try scope.emitter.axis(try operation.integer("axis", scope) ?? 0, of: x)
    let (reduction, terms) = try operation.scatterMode("add", updates, scope)
    let (places, skips) = try operation.places(indices, [scope.emitter.shape(x)[axis]], scope)
    let op = ScatterElements(axis: axis, reduction: reduction, skipsOutside: skips)
    return try scope.emitter.add(op, x, places, terms)
  }

  private static let scatterND = MILMapper("scatter_nd") { operation, scope in
    let x = try operation.value("data", scope)
    let indices = try operation.value("indices", scope)
    let updates = try operation.value("updates", scope)
    let (reduction, terms) = try operation.scatterMode("add", updates, scope)
    let sizes = scope.emitter.shape(x).dimensions.prefix(scope.emitter.shape(indices).dimensions.last ?? 0)
    let (places, skips) = try operation.places(indices, Array(sizes), scope)
    return try scope.emitter.add(ScatterND(reduction: reduction, skipsOutside: skips), x, places, terms)
  }

  private static let oneHot = MILMapper("one_hot", valueDependent: ["one_hot_vector_size"]) { operation, scope in
    let indices = try operation.value("indices", scope)
    let count = try operation.required(
      try operation.integer("one_hot_vector_size", scope), "one_hot_vector_size", scope)
    let scalar = operation.outputs.first?.type.scalar ?? .float32
    let on = try operation.optional("on_value", scope) ?? scope.emitter.constant(1, scalar, step: "on")
    let off = try operation.optional("off_value", scope) ?? scope.emitter.constant(0, scalar, step: "off")
    let axis = try operation.integer("axis", scope) ?? -1
    return try scope.emitter.oneHot(indices, count: count, axis: axis, on: on, off: off)
  }

  /// Returns the largest or smallest values, and their positions if requested; a count of -1 takes all.
  private static let topK = MILMapper(several: "topk") { operation, scope in
    let x = try operation.value("x", scope)
    let axis = try scope.emitter.axis(try operation.integer("axis", scope) ?? -1, of: x)
    let named = try operation.integer("k", scope) ?? 1
    let scalar = operation.outputs.count > 1 ? operation.outputs[1].type.scalar ?? .int32 : .int32
    let op = TopK(
      axis: axis, count: named == -1 ? scope.emitter.shape(x)[axis] : named,
      takesLargest: !(try operation.flag("ascending", scope)), scalar: scalar)
    return try scope.emitter.addAll(op, [x])
  }

  private static let argSort = MILMapper("argsort") { operation, scope in
    let x = try operation.value("x", scope)
    let axis = try scope.emitter.axis(try operation.integer("axis", scope) ?? -1, of: x)
    let op = TopK(
      axis: axis, count: scope.emitter.shape(x)[axis], takesLargest: !(try operation.flag("ascending", scope)),
      scalar: .int32)
    return try scope.emitter.addAll(op, [x])[1]
  }

  private static let cumulativeSum = MILMapper("cumsum") { operation, scope in
    let x = try operation.value("x", scope)
    let axis = try scope.emitter.axis(try operation.integer("axis", scope) ?? 0, of: x)
    let isExclusive = try operation.flag("exclusive", scope)
    let isReversed = try operation.flag("reverse", scope)
    return try scope.emitter.add(
      CumulativeReduce(.sum, axis: axis, isExclusive: isExclusive, isReversed: isReversed), x)
  }
}

extension MILOperation {
  /// Returns how updates are combined, and the updates themselves: subtraction adds their negatives.
  fileprivate func scatterMode(
    _ standard: String, _ updates: ValueID, _ scope: MILScope
  ) throws -> (ScatterReduction, ValueID) {
    switch try text("mode", scope) ?? standard {
    case "update": return (.replace, updates)
    case "add": return (.add, updates)
    case "sub": return (.add, try scope.emitter.unary(UnaryFunction(.negate), updates, step: "negative"))
    case "mul": return (.multiply, updates)
    case "div":
      guard scope.emitter.scalar(updates).isFloatingPoint else {
        throw scope.emitter.invalid("division of integers is not supported")
      }
      return (.multiply, try scope.emitter.unary(UnaryFunction(.reciprocal), updates, step: "reciprocal"))
    case "max": return (.maximum, updates)
    case "min": return (.minimum, updates)
    case let other: throw scope.emitter.invalid("mode '\(other)' is not known")
    }
  }
}

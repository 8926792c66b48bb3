import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Operations that read or write elements by position.
  static let indexing: [MILMapper] = [
    gather, gatherAlongAxis, gatherND, scatter, scatterAlongAxis, scatterND, oneHot, topK, argSort, cumulativeSum,
    nonZero,
  ]

  private static let gather = MILMapper("gather") { c in
    let (x, indices) = (try c.x, try c.value("indices"))
    let axis = try c.axis(default: 0, of: x)
    let places = try c.validated(indices, [c.emitter.shape(x)[axis]])
    return try c.emitter.gather(x, places, axis: axis, batch: try c.integer("batch_dims") ?? 0)
  }

  private static let gatherAlongAxis = MILMapper("gather_along_axis") { c in
    let (x, indices) = (try c.x, try c.value("indices"))
    let axis = try c.axis(default: 0, of: x)
    let places = try c.validated(indices, [c.emitter.shape(x)[axis]])
    return try c.emitter.add(GatherElements(axis: axis), x, places)
  }

  private static let gatherND = MILMapper("gather_nd") { c in
    let (x, indices) = (try c.x, try c.value("indices"))
    let batch = try c.integer("batch_dims") ?? 0
    let (rank, depth) = (c.emitter.shape(x).rank, c.emitter.shape(indices).dimensions.last ?? 0)
    guard batch >= 0, depth <= rank - min(batch, rank) else {
      throw c.emitter.invalid("tuples of \(depth) indices behind \(batch) batch axes of \(c.emitter.type(x))")
    }
    let sizes = Array(c.emitter.shape(x).dimensions.dropFirst(batch).prefix(depth))
    let places = try c.validated(indices, sizes)
    return try c.emitter.add(GatherND(batchDimensions: batch), x, places)
  }

  /// Writes whole slices along the axis, one for each index.
  private static let scatter = MILMapper("scatter") { c in
    let (x, indices, updates) = (try c.value("data"), try c.value("indices"), try c.value("updates"))
    let axis = try c.axis(default: 0, of: x)
    let shape = c.emitter.shape(updates)
    guard shape.rank == c.emitter.shape(x).rank, c.emitter.shape(indices).count == shape[axis] else {
      throw c.emitter.invalid("\(c.emitter.type(indices)) for updates \(c.emitter.type(updates))")
    }
    var along = [Int](repeating: 1, count: shape.rank)
    along[axis] = shape[axis]
    let (places, skips) = try c.places(indices, [c.emitter.shape(x)[axis]])
    let raised = try c.emitter.reshape(places, Shape(along), step: "raised")
    let everywhere = try c.emitter.add(Expand(shape), raised, step: "expanded")
    let (reduction, terms) = try c.scatterMode("update", updates)
    let op = ScatterElements(axis: axis, reduction: reduction, skipsOutside: skips)
    return try c.emitter.add(op, x, everywhere, terms)
  }

  private static let scatterAlongAxis = MILMapper("scatter_along_axis") { c in
    let (x, indices, updates) = (try c.value("data"), try c.value("indices"), try c.value("updates"))
    let axis = try c.axis(default: 0, of: x)
    let (reduction, terms) = try c.scatterMode("add", updates)
    let (places, skips) = try c.places(indices, [c.emitter.shape(x)[axis]])
    let op = ScatterElements(axis: axis, reduction: reduction, skipsOutside: skips)
    return try c.emitter.add(op, x, places, terms)
  }

  private static let scatterND = MILMapper("scatter_nd") { c in
    let (x, indices, updates) = (try c.value("data"), try c.value("indices"), try c.value("updates"))
    let (reduction, terms) = try c.scatterMode("add", updates)
    let sizes = c.emitter.shape(x).dimensions.prefix(c.emitter.shape(indices).dimensions.last ?? 0)
    let (places, skips) = try c.places(indices, Array(sizes))
    return try c.emitter.add(ScatterND(reduction: reduction, skipsOutside: skips), x, places, terms)
  }

  private static let oneHot = MILMapper("one_hot", valueDependent: ["one_hot_vector_size"]) { c in
    let indices = try c.value("indices")
    let count = try c.required("one_hot_vector_size", c.integer)
    let scalar = c.declaredScalar ?? .float32
    let on = try c.optional("on_value") ?? c.emitter.constant(1, scalar, step: "on")
    let off = try c.optional("off_value") ?? c.emitter.constant(0, scalar, step: "off")
    let axis = try c.integer("axis") ?? -1
    return try c.emitter.oneHot(indices, count: count, axis: axis, on: on, off: off)
  }

  /// Returns the largest or smallest values, and their positions if requested; a count of -1 takes all.
  private static let topK = MILMapper(several: "topk") { c in
    let x = try c.x
    let axis = try c.axis(default: -1, of: x)
    let named = try c.integer("k") ?? 1
    let scalar = c.outputs.count > 1 ? c.outputs[1].type.scalar ?? .int32 : .int32
    let op = TopK(
      axis: axis, count: named == -1 ? c.emitter.shape(x)[axis] : named,
      takesLargest: !(try c.flag("ascending")), scalar: scalar)
    return try c.emitter.addAll(op, [x])
  }

  private static let argSort = MILMapper("argsort") { c in
    let x = try c.x
    let axis = try c.axis(default: -1, of: x)
    let op = TopK(axis: axis, count: c.emitter.shape(x)[axis], takesLargest: !(try c.flag("ascending")), scalar: .int32)
    return try c.emitter.addAll(op, [x])[1]
  }

  private static let cumulativeSum = MILMapper("cumsum") { c in
    let x = try c.x
    let axis = try c.axis(default: 0, of: x)
    let isExclusive = try c.flag("exclusive")
    let isReversed = try c.flag("reverse")
    return try c.emitter.add(CumulativeReduce(.sum, axis: axis, isExclusive: isExclusive, isReversed: isReversed), x)
  }

  /// Returns the positions of nonzero elements, one per row.
  private static let nonZero = MILMapper("non_zero", hasDataDependentShape: true) { c in
    try c.emitter.nonZero(try c.x)
  }
}

extension MILContext {
  /// Returns how updates are combined, and the updates themselves: subtraction adds their negatives.
  fileprivate func scatterMode(_ standard: String, _ updates: ValueID) throws -> (ScatterReduction, ValueID) {
    switch try text("mode") ?? standard {
    case "update": return (.replace, updates)
    case "add": return (.add, updates)
    case "sub": return (.add, try emitter.unary(UnaryFunction(.negate), updates, step: "negative"))
    case "mul": return (.multiply, updates)
    case "div":
      guard emitter.scalar(updates).isFloatingPoint else {
        throw emitter.invalid("division of integers is not supported")
      }
      return (.multiply, try emitter.unary(UnaryFunction(.reciprocal), updates, step: "reciprocal"))
    case "max": return (.maximum, updates)
    case "min": return (.minimum, updates)
    case let other: throw emitter.invalid("mode '\(other)' is not known")
    }
  }
}

/// The interpretation of indices in gathers and scatters. From iOS 17 on a negative index is out of range, like one
/// that is too large. With `validate_indices` such an index is an error of the prediction; otherwise the format leaves
/// its effect undefined.
extension MILContext {
  private static let lookedThrough = 1 << 16

  /// Returns the indices of a scatter, and whether those out of range write nothing. Constant indices in range are
  /// unchanged.
  ///
  /// - Parameter sizes: The sizes of the axes that a tuple of indices addresses.
  func places(_ indices: ValueID, _ sizes: [Int]) throws -> (indices: ValueID, skipsOutside: Bool) {
    guard scope.version >= 17, !sizes.isEmpty else { return (indices, false) }
    if let weight = emitter.weight(indices), weight.type.count <= Self.lookedThrough {
      let values = weight.dense().integers
      if values.indices.allSatisfy({ (0..<sizes[$0 % sizes.count]).contains(values[$0]) }) { return (indices, false) }
    }
    return (try unsigned(indices), try !flag("validate_indices"))
  }

  /// Returns the indices of a gather. If they are not validated, negative ones count from the end, as before iOS 17.
  func validated(_ indices: ValueID, _ sizes: [Int]) throws -> ValueID {
    guard scope.version >= 17, try flag("validate_indices") else { return indices }
    return try places(indices, sizes).indices
  }

  /// Returns indices with negative ones replaced by an index beyond any axis.
  private func unsigned(_ indices: ValueID) throws -> ValueID {
    switch emitter.scalar(indices) {
    case .uint8, .uint16, .uint32, .uint64: return indices
    default: break
    }
    let wide = try emitter.cast(indices, to: .int32, step: "wide_indices")
    let isNegative = try emitter.add(
      Compare(.less), wide, emitter.constant(0, .int32, step: "zero"), step: "is_outside")
    return try emitter.add(
      Select(), isNegative, emitter.constant(Double(Int32.max), .int32, step: "outside"), wide, step: "places")
  }
}

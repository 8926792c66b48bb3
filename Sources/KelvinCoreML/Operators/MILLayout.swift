import KelvinGraph
import KelvinImport

extension MILMapper {
  static let reshape = MILMapper("reshape", valueDependent: ["shape"]) { operation, scope in
    let x = try operation.value("x", scope)
    let shape = try operation.required(try operation.integers("shape", scope), "shape", scope)
    return try scope.emitter.reshape(x, requested: shape, zeros: scope.version >= 17 ? .keptFromLast : .kept)
  }

  static let transpose = MILMapper("transpose") { operation, scope in
    let x = try operation.value("x", scope)
    let rank = scope.emitter.shape(x).rank
    let named = try operation.required(try operation.integers("perm", scope), "perm", scope)
    return try scope.emitter.transpose(x, named.map { $0 < 0 ? $0 &+ rank : $0 })
  }

  static let expandDims = MILMapper("expand_dims") { operation, scope in
    let x = try operation.value("x", scope)
    let axes = try operation.required(try operation.integers("axes", scope), "axes", scope)
    return try scope.emitter.expandDimensions(x, at: axes)
  }

  static let squeeze = MILMapper("squeeze") { operation, scope in
    let x = try operation.value("x", scope)
    return try scope.emitter.squeeze(x, try operation.integers("axes", scope))
  }

  static let flatten2d = MILMapper("flatten2d") { operation, scope in
    let x = try operation.value("x", scope)
    let shape = scope.emitter.shape(x)
    let axis = try operation.integer("axis", scope) ?? 1
    let place = axis == shape.rank ? axis : try scope.emitter.axis(axis, of: x)
    let sizes = [shape.dimensions[..<place].reduce(1, *), shape.dimensions[place...].reduce(1, *)]
    return try scope.emitter.reshape(x, Shape(sizes))
  }

  /// Concatenates values. With `interleave`, their slices along the axis alternate. Scalars count as lists of one
  /// element, as coremltools writes them in computations of sizes.
  static let concat = MILMapper("concat") { operation, scope in
    let values = try operation.values("values", scope).enumerated().map { index, value in
      scope.emitter.shape(value).rank > 0 ? value : try scope.emitter.reshape(value, [1], step: "number\(index)")
    }
    let axis = try operation.required(try operation.integer("axis", scope), "axis", scope)
    guard try operation.flag("interleave", scope) else { return try scope.emitter.concat(values, axis: axis) }
    let place = try scope.emitter.axis(axis, of: values[0])
    var sizes = scope.emitter.shape(values[0]).dimensions
    var raised: [ValueID] = []
    for value in values {
      guard scope.emitter.shape(value).dimensions == sizes else {
        throw scope.emitter.invalid("interleaved inputs must have equal shapes")
      }
      var shape = sizes
      shape.insert(1, at: place + 1)
      raised.append(try scope.emitter.reshape(value, Shape(shape), step: "raised"))
    }
    let joined = try scope.emitter.concat(raised, axis: place + 1, step: "joined")
    sizes[place] *= values.count
    return try scope.emitter.reshape(joined, Shape(sizes))
  }

  static let stack = MILMapper("stack") { operation, scope in
    let values = try operation.values("values", scope)
    let axis = try operation.required(try operation.integer("axis", scope), "axis", scope)
    return try scope.emitter.stack(values, axis: axis)
  }

  static let split = MILMapper(several: "split") { operation, scope in
    let x = try operation.value("x", scope)
    let named = try operation.required(try operation.integer("axis", scope), "axis", scope)
    let axis = try scope.emitter.axis(named, of: x)
    let count = operation.outputs.count
    let size = scope.emitter.shape(x)[axis]
    if let sizes = try operation.integers("split_sizes", scope) {
      guard sizes.count == count else { throw scope.emitter.invalid("\(sizes.count) parts for \(count) outputs") }
      return try scope.emitter.split(x, axis: axis, sizes: sizes)
    }
    guard try operation.integer("num_splits", scope) ?? count == count, count > 0, size % count == 0 else {
      throw scope.emitter.invalid("axis \(axis) of \(scope.emitter.type(x)) does not split into \(count) equal parts")
    }
    return try scope.emitter.split(x, axis: axis, sizes: [Int](repeating: size / count, count: count))
  }

  static let tile = MILMapper("tile", valueDependent: ["reps"]) { operation, scope in
    let x = try operation.value("x", scope)
    return try scope.emitter.tile(x, try operation.required(try operation.integers("reps", scope), "reps", scope))
  }

  static let cast = MILMapper("cast") { operation, scope in
    let x = try operation.value("x", scope)
    let name = try operation.required(try operation.text("dtype", scope), "dtype", scope)
    guard let scalar = ScalarType(milName: name) else { throw scope.emitter.invalid("casts to unknown type '\(name)'") }
    return try scope.emitter.cast(x, to: scalar)
  }

  static let identity = MILMapper("identity") { operation, scope in try operation.value("x", scope) }

  static let shape = MILMapper("shape", readsOnlyShapes: true) { operation, scope in
    let sizes = scope.emitter.shape(try operation.value("x", scope)).dimensions
    return scope.emitter.constant(integers: sizes, .int32)
  }

  static let fill = MILMapper("fill", valueDependent: ["shape", "value"]) { operation, scope in
    let sizes = try operation.required(try operation.integers("shape", scope), "shape", scope)
    return try scope.emitter.fill(Shape(sizes), with: try operation.fillValue(scope))
  }
}

extension MILOperation {
  /// Returns the value that `fill` and `fill_like` repeat, in the type of their result.
  func fillValue(_ scope: MILScope) throws -> Tensor {
    let value = try scalar("value", scope) ?? Tensor([Float(0)], [])
    return value.converted(to: outputs.first?.type.scalar ?? value.type.scalar)
  }
}

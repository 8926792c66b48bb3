package import KelvinGraph

/// Operations that move elements or change their type. On constants they do not add a node: the result is a view of the
/// weight, or a weight that is computed when a device first packs it.
extension Emitter {
  package func reshape(_ x: ValueID, _ shape: Shape, step: String? = nil) throws -> ValueID {
    if self.shape(x) == shape { return x }
    guard let weight = weight(x), shape.isAddressable, shape.count == self.shape(x).count,
      shape.rank <= Self.rankLimit
    else { return try add(Reshape(shape), x, step: step) }
    let reshaped = weight.reshaped(to: shape)
    if case .deferred = reshaped.encoding {} else { return constant(reshaped, step: step) }
    let type = TensorType(weight.type.scalar, shape)
    return try derived(x, type, step: step, recipe: "reshaped") { $0.reshaped(to: shape) }
      ?? add(Reshape(shape), x, step: step)
  }

  /// The meaning of a 0 in a requested shape.
  package enum ZeroSize {
    /// A size of 0.
    case empty
    /// The size of the axis with the same index, counted from the first.
    case kept
    /// The size of the axis with the same index, counted from the last; 1 if there is none.
    case keptFromLast
  }

  /// Reshapes by a list of sizes. One of them may be -1, which takes the remaining elements.
  package func reshape(_ x: ValueID, requested: [Int], zeros: ZeroSize, step: String? = nil) throws -> ValueID {
    let source = shape(x)
    guard requested.count <= Self.rankLimit else { throw invalid("a shape of \(requested.count) dimensions") }
    var sizes = requested
    var inferred: Int?
    for (axis, size) in requested.enumerated() {
      if size == 0, zeros == .kept {
        guard axis < source.rank else { throw invalid("size 0 at axis \(axis) does not refer to a size of \(type(x))") }
        sizes[axis] = source[axis]
      } else if size == 0, zeros == .keptFromLast {
        let place = axis - requested.count + source.rank
        sizes[axis] = place >= 0 ? source[place] : 1
      } else if size == -1 {
        guard inferred == nil else { throw invalid("shape \(requested) leaves two sizes open") }
        inferred = axis
        sizes[axis] = 1
      }
    }
    let known = Shape(sizes)
    guard known.isAddressable else { throw invalid("shape \(requested) is not a valid shape") }
    if let inferred {
      guard known.count > 0, source.count % known.count == 0 else {
        throw invalid("\(type(x)) cannot be reshaped to \(requested)")
      }
      sizes[inferred] = source.count / known.count
    }
    return try reshape(x, Shape(sizes), step: step)
  }

  package func transpose(_ x: ValueID, _ permutation: [Int], step: String? = nil) throws -> ValueID {
    let type = self.type(x)
    guard permutation.count == type.shape.rank, permutation.sorted() == Array(0..<permutation.count) else {
      throw invalid("\(permutation) is not a permutation of the axes of \(type)")
    }
    if permutation == Array(0..<permutation.count) { return x }
    let result = TensorType(type.scalar, Shape(permutation.map { type.shape[$0] }))
    return try derived(x, result, step: step, recipe: WeightRecipe.transposition(permutation)) {
      $0.transposed(permutation)
    } ?? add(Transpose(permutation), x, step: step)
  }

  package func cast(_ x: ValueID, to scalar: ScalarType, step: String? = nil) throws -> ValueID {
    if self.scalar(x) == scalar { return x }
    if type(x).count <= 1024 { return try add(Cast(scalar), x, step: step) }
    return try derived(x, TensorType(scalar, shape(x)), step: step, recipe: "converted") { $0.converted(to: scalar) }
      ?? add(Cast(scalar), x, step: step)
  }

  /// Inserts axes of size 1 at the given indices of the result.
  package func expandDimensions(_ x: ValueID, at axes: [Int]) throws -> ValueID {
    let inserted = try self.axes(axes, rank: shape(x).rank + axes.count)
    var sizes = shape(x).dimensions
    for axis in inserted { sizes.insert(1, at: axis) }
    return try reshape(x, Shape(sizes))
  }

  /// Removes the given axes of size 1, or all of them if `axes` is nil.
  package func squeeze(_ x: ValueID, _ axes: [Int]?) throws -> ValueID {
    let source = shape(x)
    let removed = try axes.map { try self.axes($0, of: x) } ?? (0..<source.rank).filter { source[$0] == 1 }
    for axis in removed where source[axis] != 1 { throw invalid("axis \(axis) of \(type(x)) is not of size 1") }
    return try reshape(x, Shape((0..<source.rank).filter { !removed.contains($0) }.map { source[$0] }))
  }

  /// Concatenates along an existing axis.
  package func concat(_ values: [ValueID], axis: Int, step: String? = nil) throws -> ValueID {
    guard let first = values.first else { throw invalid("joins nothing") }
    return try add(Concat(axis: try self.axis(axis, of: first)), values, step: step)
  }

  /// Concatenates along a new axis.
  package func stack(_ values: [ValueID], axis: Int) throws -> ValueID {
    guard let first = values.first else { throw invalid("joins nothing") }
    let place = try axes([axis], rank: shape(first).rank + 1)[0]
    var raised: [ValueID] = []
    for value in values {
      guard shape(value) == shape(first) else { throw invalid("inputs differ: \(type(first)) and \(type(value))") }
      var sizes = shape(value).dimensions
      sizes.insert(1, at: place)
      raised.append(try reshape(value, Shape(sizes), step: "raised"))
    }
    return try add(Concat(axis: place), raised)
  }

  /// Concatenates tensors of one shape so that their slices along the axis alternate.
  package func interleave(_ values: [ValueID], axis: Int) throws -> ValueID {
    var sizes = shape(values[0]).dimensions
    var raised: [ValueID] = []
    for value in values {
      guard shape(value).dimensions == sizes else { throw invalid("interleaved inputs must have equal shapes") }
      raised.append(try reshape(value, Shape(sizes[...axis] + [1] + sizes[(axis + 1)...]), step: "raised"))
    }
    let joined = try concat(raised, axis: axis + 1, step: "joined")
    sizes[axis] *= values.count
    return try reshape(joined, Shape(sizes))
  }

  /// Repeats the whole tensor along each axis. If there are fewer repeats than axes, they apply to the last axes.
  package func tile(_ x: ValueID, _ given: [Int]) throws -> ValueID {
    let source = shape(x)
    let repeats = [Int](repeating: 1, count: max(source.rank - given.count, 0)) + given
    guard repeats.count == source.rank, repeats.allSatisfy({ (0..<(1 << 31)).contains($0) }) else {
      throw invalid("repeats \(repeats) do not fit \(type(x))")
    }
    if repeats.allSatisfy({ $0 == 1 }) { return x }
    var separate: [Int] = []
    var repeated: [Int] = []
    for (size, count) in zip(source.dimensions, repeats) {
      if count != 1, size != 1 {
        separate += [1, size]
        repeated += [count, size]
      } else {
        separate.append(size)
        repeated.append(size * count)
      }
    }
    guard separate.count <= Self.rankLimit, Shape(repeated).isAddressable else {
      throw invalid("\(type(x)) repeated \(repeats) times is too large")
    }
    let target = Shape(zip(source.dimensions, repeats).map(*))
    if Shape(repeated) == target {
      return try add(Expand(target), try reshape(x, Shape(separate), step: "separated"))
    }
    let expanded = try add(
      Expand(Shape(repeated)), try reshape(x, Shape(separate), step: "separated"), step: "repeated")
    return try reshape(expanded, target)
  }

  /// Splits along an axis into parts of the given sizes. The parts are the operation's outputs, or steps within the
  /// operation.
  package func split(_ x: ValueID, axis: Int, sizes: [Int], step: String? = nil) throws -> [ValueID] {
    let source = shape(x)
    guard sizes.allSatisfy({ (0...source[axis]).contains($0) }), sizes.reduce(0, +) == source[axis] else {
      throw invalid("parts \(sizes) do not add up to axis \(axis) of \(type(x))")
    }
    var results: [ValueID] = []
    var start = 0
    for (index, size) in sizes.enumerated() {
      var (starts, counts) = ([Int](repeating: 0, count: source.rank), source.dimensions)
      starts[axis] = start
      counts[axis] = size
      let ones = [Int](repeating: 1, count: source.rank)
      results.append(
        try add(
          Slice(starts: starts, counts: counts, steps: ones), x, step: step.map { "\($0)_\(index)" }, output: index))
      start += size
    }
    return results
  }

  /// Takes `indices.count` elements along each axis.
  package func slice(_ x: ValueID, _ ranges: [SliceRange], step: String? = nil) throws -> ValueID {
    let full = zip(ranges, shape(x).dimensions).allSatisfy { $0.start == 0 && $0.step == 1 && $0.count == $1 }
    if full { return x }
    return try add(
      Slice(starts: ranges.map(\.start), counts: ranges.map(\.count), steps: ranges.map(\.step)), x, step: step)
  }

  /// Slices one axis; the others stay whole.
  package func slice(_ x: ValueID, axis: Int, _ range: SliceRange, step: String? = nil) throws -> ValueID {
    var ranges = shape(x).dimensions.map { SliceRange(start: 0, count: $0) }
    ranges[axis] = range
    return try slice(x, ranges, step: step)
  }
}

import KelvinGraph

extension MILMapper {
  /// `x[begin:end:stride]` for each axis; a begin or end mask takes the whole side, a squeeze mask one element.
  static let sliceByIndex = MILMapper("slice_by_index") { operation, scope in
    let x = try operation.value("x", scope)
    let ranges = try operation.sliceRanges(of: x, scope)
    let squeezeMask = try operation.flags("squeeze_mask", scope) ?? []
    guard squeezeMask.contains(true) else { return try scope.emitter.slice(x, ranges) }
    let kept = zip(ranges, squeezeMask).compactMap { $1 ? nil : $0.count }
    return try scope.emitter.reshape(try scope.emitter.slice(x, ranges, step: "sliced"), Shape(kept))
  }

  /// `size` elements from `begin` on; -1 takes all that are left.
  static let sliceBySize = MILMapper("slice_by_size") { operation, scope in
    let x = try operation.value("x", scope)
    let shape = scope.emitter.shape(x)
    let begin = try operation.required(try operation.integers("begin", scope), "begin", scope)
    let size = try operation.required(try operation.integers("size", scope), "size", scope)
    guard begin.count == shape.rank, size.count == shape.rank else {
      throw scope.emitter.invalid("begin and size need \(shape.rank) entries for \(scope.emitter.type(x))")
    }
    var ranges: [SliceRange] = []
    for axis in 0..<shape.rank {
      let start = begin[axis] < 0 ? begin[axis] &+ shape[axis] : begin[axis]
      guard (0...shape[axis]).contains(start) else {
        throw scope.emitter.invalid("begin \(begin[axis]) lies outside axis \(axis) of \(scope.emitter.type(x))")
      }
      let count = size[axis] == -1 ? shape[axis] - start : size[axis]
      guard count >= 0 else { throw scope.emitter.invalid("size \(size[axis]) along axis \(axis)") }
      ranges.append(SliceRange(start: count == 0 ? 0 : start, count: count))
    }
    return try scope.emitter.slice(x, ranges)
  }
}

extension MILOperation {
  /// The elements of each axis that `begin`, `end`, `stride` and their masks take.
  func sliceRanges(of x: ValueID, _ scope: MILScope) throws -> [SliceRange] {
    let shape = scope.emitter.shape(x)
    let begin = try required(try integers("begin", scope), "begin", scope)
    let end = try required(try integers("end", scope), "end", scope)
    let none = [Bool](repeating: false, count: shape.rank)
    let strides = try integers("stride", scope) ?? none.map { _ in 1 }
    let beginMask = try flags("begin_mask", scope) ?? none
    let endMask = try flags("end_mask", scope) ?? none
    let squeezeMask = try flags("squeeze_mask", scope) ?? none
    let lengths = [begin.count, end.count, strides.count, beginMask.count, endMask.count, squeezeMask.count]
    guard lengths.allSatisfy({ $0 == shape.rank }) else {
      throw scope.emitter.invalid(
        "begin, end, stride and masks need \(shape.rank) entries for \(scope.emitter.type(x))")
    }
    var ranges: [SliceRange] = []
    for (axis, size) in shape.dimensions.enumerated() {
      if squeezeMask[axis] {
        let place = begin[axis] < 0 ? begin[axis] &+ size : begin[axis]
        guard (0..<size).contains(place) else {
          throw scope.emitter.invalid("position \(begin[axis]) lies outside axis \(axis) of \(scope.emitter.type(x))")
        }
        ranges.append(SliceRange(start: place, count: 1))
        continue
      }
      let range = SliceRange(
        start: beginMask[axis] ? nil : begin[axis], end: endMask[axis] ? nil : end[axis], step: strides[axis],
        size: size)
      guard let range else { throw scope.emitter.invalid("stride 0 along axis \(axis)") }
      ranges.append(range)
    }
    return ranges
  }
}

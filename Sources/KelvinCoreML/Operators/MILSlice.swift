import KelvinGraph
import KelvinImport

extension MILMapper {
  /// Slices with NumPy's rules, and writes to them.
  static let slices: [MILMapper] = [sliceByIndex, sliceBySize, sliceUpdate]

  /// `x[begin:end:stride]` for each axis. A begin or end mask extends the slice to that end of the axis; a squeeze mask
  /// takes one element.
  private static let sliceByIndex = MILMapper("slice_by_index", valueDependentUnlessDeclared: ["begin", "end"]) { c in
    let x = try c.x
    let squeezes = try c.flags("squeeze_mask") ?? []
    let declared = c.outputs.first?.type.tensorType?.shape.dimensions
    let axes = try c.sliceAxes(of: x, counts: declared)
    guard squeezes.contains(true) else { return try c.emitter.slice(x, axes) }
    let kept = zip(axes, squeezes).compactMap { $1 ? nil : $0.count }
    return try c.emitter.reshape(try c.emitter.slice(x, axes, step: "sliced"), Shape(kept))
  }

  /// Takes `size` elements from `begin` on; -1 takes all remaining elements.
  private static let sliceBySize = MILMapper(
    "slice_by_size", valueDependent: ["size"], valueDependentUnlessDeclared: ["begin"]
  ) { c in
    let x = try c.x
    let shape = c.emitter.shape(x)
    let size = try c.required("size", c.integers)
    guard let begin = try c.knownIntegers("begin") else {
      guard size.count == shape.rank, size.allSatisfy({ $0 >= 0 }) else {
        throw c.emitter.invalid("begin depends on the model's inputs and size is -1, expected a size for each axis")
      }
      let begin = try c.begins(size.map { Run(count: $0) }, of: x)
      return try c.emitter.slice(x, begin)
    }
    guard begin.count == shape.rank, size.count == shape.rank else {
      throw c.emitter.invalid("begin and size need \(shape.rank) entries for \(c.emitter.type(x))")
    }
    var ranges: [SliceRange] = []
    for axis in 0..<shape.rank {
      let start = begin[axis] < 0 ? begin[axis] &+ shape[axis] : begin[axis]
      guard (0...shape[axis]).contains(start) else {
        throw c.emitter.invalid("begin \(begin[axis]) is outside axis \(axis) of \(c.emitter.type(x))")
      }
      let count = size[axis] == -1 ? shape[axis] - start : size[axis]
      guard count >= 0 else { throw c.emitter.invalid("size \(size[axis]) along axis \(axis)") }
      ranges.append(SliceRange(start: count == 0 ? 0 : start, count: count))
    }
    return try c.emitter.slice(x, ranges)
  }

  /// Writes the update over the elements that `slice_by_index` would take.
  private static let sliceUpdate = MILMapper("slice_update") { c in
    let (x, update) = (try c.x, try c.value("update"))
    let counts = c.emitter.shape(update)
    let axes = try c.sliceAxes(of: x, counts: counts.dimensions)
    guard axes.map(\.count).reduce(1, *) == counts.count else {
      throw c.emitter.invalid("an update of \(c.emitter.type(update)) for \(axes.map(\.count))")
    }
    let raised = try c.emitter.reshape(update, Shape(axes.map(\.count)), step: "update")
    return try c.emitter.replacing(axes, of: x, by: raised)
  }
}

extension MILContext {
  /// Returns the slice of each axis from `begin`, `end`, `stride` and their masks.
  ///
  /// - Parameter counts: The number of elements of each axis that is not squeezed, used if the begin or end depends on
  ///   the model's inputs; nil if it is not declared.
  fileprivate func sliceAxes(of x: ValueID, counts: [Int]?) throws -> [SliceAxis] {
    let shape = emitter.shape(x)
    let (begin, end) = (try knownIntegers("begin"), try knownIntegers("end"))
    let none = [Bool](repeating: false, count: shape.rank)
    let strides = try integers("stride") ?? none.map { _ in 1 }
    let beginMask = try flags("begin_mask") ?? none
    let endMask = try flags("end_mask") ?? none
    let squeezes = try flags("squeeze_mask") ?? none
    let rank = shape.rank
    let lengths = [begin?.count ?? rank, end?.count ?? rank, strides.count, beginMask.count, endMask.count]
    guard lengths.allSatisfy({ $0 == rank }), squeezes.count == rank else {
      throw emitter.invalid("begin, end, stride and masks need \(rank) entries for \(emitter.type(x))")
    }
    guard let begin, let end else {
      let taken = try sliceCounts(counts, squeezes, of: x)
      let runs = (0..<rank).map { axis in
        // The stride of a single element has no effect.
        Run(count: taken[axis], isFromEdge: beginMask[axis], stride: taken[axis] > 1 ? strides[axis] : 1)
      }
      for (axis, run) in runs.enumerated() {
        let (reach, overflow) = (run.count - 1).multipliedReportingOverflow(by: run.stride)
        guard !overflow, run.stride != 0, reach.magnitude < max(1, shape[axis]) else {
          throw emitter.invalid("\(run.count) elements in strides of \(strides[axis]) along axis \(axis)")
        }
      }
      return try begins(runs, of: x)
    }
    return try (0..<rank).map { axis in
      let size = shape[axis]
      if squeezes[axis] {
        let place = begin[axis] < 0 ? begin[axis] &+ size : begin[axis]
        guard (0..<size).contains(place) else {
          throw emitter.invalid("position \(begin[axis]) is outside axis \(axis) of \(emitter.type(x))")
        }
        return .known(SliceRange(start: place, count: 1))
      }
      let range = SliceRange(
        start: beginMask[axis] ? nil : begin[axis], end: endMask[axis] ? nil : end[axis], step: strides[axis],
        size: size)
      guard let range else { throw emitter.invalid("stride 0 along axis \(axis)") }
      return .known(range)
    }
  }

  /// Returns the number of elements that a slice takes of every axis, given the numbers for the axes that remain.
  private func sliceCounts(_ counts: [Int]?, _ squeezes: [Bool], of x: ValueID) throws -> [Int] {
    let kept = squeezes.count { !$0 }
    guard var left = counts?[...] ?? (kept == 0 ? [] : nil) else {
      throw emitter.invalid(
        "its size depends on the model's inputs: a size known only when the model runs is not supported; "
          + "export the slice with a size that is constant or follows from the sizes of the inputs")
    }
    guard left.count == kept else {
      throw emitter.invalid("\(left.count) sizes for \(kept) axes of \(emitter.type(x))")
    }
    let taken = squeezes.map { $0 ? 1 : left.removeFirst() }
    guard zip(taken, emitter.shape(x).dimensions).allSatisfy({ $0 <= $1 }) else {
      throw emitter.invalid("\(taken) elements of the axes of \(emitter.type(x))")
    }
    return taken
  }

  /// Returns slices of each axis. A run begins where `begin` says unless it begins at an edge or takes the whole axis.
  fileprivate func begins(_ runs: [Run], of x: ValueID) throws -> [SliceAxis] {
    let begin = try value("begin")
    guard emitter.shape(begin) == [runs.count], runs.count == emitter.shape(x).rank else {
      throw emitter.invalid("begin is \(emitter.type(begin)) for \(emitter.type(x))")
    }
    return try runs.enumerated().map { axis, run in
      let size = emitter.shape(x)[axis]
      if run.isFromEdge || run.stride == 1 && run.count == size {
        return .known(SliceRange(start: run.stride > 0 ? 0 : size - 1, count: run.count, step: run.stride))
      }
      let place = try emitter.slice(begin, [SliceRange(start: axis, count: 1)], step: "begin\(axis)")
      return .from(place, count: run.count, step: run.stride)
    }
  }
}

/// A run of elements of an axis, whose first element may be known only when the model runs.
private struct Run {
  var count: Int
  /// Whether the run begins at the front, or at the end if the stride is negative.
  var isFromEdge = false
  var stride = 1
}

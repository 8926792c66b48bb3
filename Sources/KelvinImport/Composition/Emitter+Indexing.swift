package import KelvinGraph

/// Operations that read or write elements by position.
extension Emitter {
  /// Returns a tensor with a new axis that holds `on` at the position of each index and `off` elsewhere. Negative
  /// indices count from the end; indices out of range set no position.
  package func oneHot(_ indices: ValueID, count: Int, axis: Int, on: ValueID, off: ValueID) throws -> ValueID {
    guard (1..<(1 << 31)).contains(count) else { throw invalid("\(count) classes") }
    let sizes = shape(indices).dimensions
    let place = try axes([axis], rank: sizes.count + 1)[0]
    let scalar = scalar(indices)
    var raised = sizes
    raised.insert(1, at: place)
    let column = try reshape(indices, Shape(raised), step: "column")
    let zero = constant(0, scalar, step: "zero")
    let length = constant(Double(count), scalar, step: "length")
    let isNegative = try add(Compare(.less), column, zero, step: "is_negative")
    let shifted = try binary(.add, column, length, step: "from_end")
    let positions = try add(Select(), isNegative, shifted, column, step: "position")
    var along = [Int](repeating: 1, count: raised.count)
    along[place] = count
    let type = TensorType(scalar, Shape(along))
    let classes = constant(Weight(type) { Tensor(type, rounding: (0..<count).map(Double.init)) }, step: "classes")
    let hit = try add(Compare(.equal), positions, classes, step: "hit")
    return try add(Select(), hit, on, off)
  }

  /// Keeps the elements of each matrix whose column is between `row + lower` and `row + upper`, and sets the others to
  /// zero. A nil bound means no limit.
  package func band(_ x: ValueID, lower: Int?, upper: Int?, step: String? = nil) throws -> ValueID {
    let source = shape(x)
    guard source.rank >= 2 else { throw invalid("expected matrices, got \(type(x))") }
    let (rows, columns) = (source[source.rank - 2], source[source.rank - 1])
    let type = TensorType(.bool, [rows, columns])
    let mask = constant(
      Weight(type) {
        Tensor(
          type,
          Bytes(count: type.byteCount) { target in
            for row in 0..<rows {
              for column in 0..<columns {
                let offset = column - row
                target[row * columns + column] = offset >= lower ?? .min && offset <= upper ?? .max ? 1 : 0
              }
            }
          })
      }, step: "band")
    let zero = constant(0, scalar(x), step: "zero")
    return try add(Select(), mask, x, zero, step: step)
  }

  /// Returns `start, start + delta, …` before `limit`, given three numbers of one type; integers are exact.
  package func range(from start: Tensor, to limit: Tensor, by delta: Tensor) throws -> ValueID {
    let scalar = start.type.scalar
    guard limit.type.scalar == scalar, delta.type.scalar == scalar else {
      throw invalid("a range from \(start.type) to \(limit.type) by \(delta.type), expected numbers of one type")
    }
    let isInteger = !scalar.isFloatingPoint
    guard let count = isInteger ? integerCount(start, limit, delta) : floatCount(start, limit, delta), count < 1 << 24
    else { throw invalid("a range from \(start.doubles[0]) to \(limit.doubles[0]) by \(delta.doubles[0])") }
    let type = TensorType(scalar, [count])
    return constant(
      Weight(type) {
        if isInteger {
          let (first, step) = (start.integers[0], delta.integers[0])
          return Tensor((0..<count).map { Int64(first + $0 * step) }, type.shape).converted(to: scalar)
        }
        let (first, step) = (start.doubles[0], delta.doubles[0])
        return Tensor(type, rounding: (0..<count).map { first + Double($0) * step })
      })
  }

  private func integerCount(_ start: Tensor, _ limit: Tensor, _ delta: Tensor) -> Int? {
    let step = delta.integers[0]
    let (span, overflow) = limit.integers[0].subtractingReportingOverflow(start.integers[0])
    guard step != 0, !overflow, span != .min else { return nil }
    return max(0, span / step + (span % step != 0 && (span < 0) == (step < 0) ? 1 : 0))
  }

  private func floatCount(_ start: Tensor, _ limit: Tensor, _ delta: Tensor) -> Int? {
    let (first, step) = (start.doubles[0], delta.doubles[0])
    let count = ((limit.doubles[0] - first) / step).rounded(.up)
    guard first.isFinite, step.isFinite, step != 0, !count.isNaN else { return nil }
    return max(0, Int(saturating: count))
  }

  /// Reverses the elements along some axes.
  package func reverse(_ x: ValueID, _ axes: [Int], step: String? = nil) throws -> ValueID {
    let ranges = shape(x).dimensions.enumerated().map { axis, size in
      axes.contains(axis) && size > 1
        ? SliceRange(start: size - 1, count: size, step: -1) : SliceRange(start: 0, count: size)
    }
    return try slice(x, ranges, step: step)
  }

  /// Reverses the first `lengths[b]` elements along `axis`, for each position `b` along `batchAxis`.
  package func reverse(_ x: ValueID, lengths: ValueID, axis: Int, batchAxis: Int) throws -> ValueID {
    let source = shape(x)
    guard axis != batchAxis, shape(lengths).dimensions == [source[batchAxis]] else {
      throw invalid("axes \(axis) and \(batchAxis) of \(type(x)) with lengths \(type(lengths))")
    }
    let scalar = scalar(lengths)
    let (batch, count) = (source[batchAxis], source[axis])
    let type = TensorType(scalar, [1, count])
    let positions = constant(Weight(type) { Tensor(type, rounding: (0..<count).map(Double.init)) }, step: "positions")
    let column = try reshape(lengths, [batch, 1], step: "column")
    let last = try binary(.subtract, column, constant(1, scalar, step: "one"), step: "last")
    let mirrored = try binary(.subtract, last, positions, step: "mirrored")
    let isInside = try add(Compare(.less), positions, column, step: "is_inside")
    let chosen = try add(Select(), isInside, mirrored, positions, step: "chosen")
    if (axis, batchAxis) == (0, 1) {
      // Pairs of both positions, in the order of x, so that it needs no transpositions.
      let batches = try table(scalar, [count, batch, 1], step: "batches") {
        (0..<count * batch).map { Double($0 % batch) }
      }
      let rows = try reshape(transpose(chosen, [1, 0], step: "by_position"), [count, batch, 1], step: "rows")
      return try add(GatherND(batchDimensions: 0), x, concat([rows, batches], axis: 2, step: "pairs"))
    }
    let rest = (0..<source.rank).filter { $0 != axis && $0 != batchAxis }
    let order = [batchAxis, axis] + rest
    let moved = try transpose(x, order, step: "moved")
    let tuples = try reshape(chosen, [batch, count, 1], step: "tuples")
    let gathered = try add(GatherND(batchDimensions: 1), moved, tuples, step: "reversed")
    return try transpose(gathered, (0..<source.rank).map { order.firstIndex(of: $0) ?? 0 })
  }

  /// Repeats x periodically before and after itself along each axis; negative amounts remove elements.
  package func wrap(_ x: ValueID, before: [Int], after: [Int]) throws -> ValueID {
    let sizes = shape(x).dimensions
    if before.count == sizes.count, after.count == sizes.count,
      zip(before + after, sizes + sizes).allSatisfy({ (0...$1).contains($0) })
    {
      return try pad(x, before: before, after: after, mode: .wrap)
    }
    var result = x
    let limits = -(1 << 31)..<(1 << 31)
    for axis in 0..<shape(x).rank where before[axis] != 0 || after[axis] != 0 {
      let size = shape(x)[axis]
      guard size > 0, limits.contains(before[axis]), limits.contains(after[axis]),
        size + before[axis] + after[axis] >= 0
      else { throw invalid("pads \(before) and \(after) do not fit \(type(x))") }
      let count = size + before[axis] + after[axis]
      let first = before[axis]
      let places = try table(.int64, [count], step: "places_\(axis)") {
        (0..<count).map { Double((($0 - first) % size + size) % size) }
      }
      result = try add(Gather(axis: axis), result, places, step: "wrapped_\(axis)")
    }
    return result
  }

  /// Picks slices along `axis` by the indices of the same leading `batch` axes.
  package func gather(_ x: ValueID, _ indices: ValueID, axis: Int, batch: Int) throws -> ValueID {
    if batch == 0 { return try add(Gather(axis: axis), x, indices) }
    let (rank, picked) = (shape(x).rank, shape(indices).rank - batch)
    guard batch > 0, batch <= axis, picked >= 0 else {
      throw invalid("\(batch) batch axes of \(type(x)) and \(type(indices)) before axis \(axis)")
    }
    let between = Array(batch..<axis)
    let moved = try transpose(x, Array(0..<batch) + [axis] + between + Array((axis + 1)..<rank), step: "moved")
    let tuples = try reshape(indices, Shape(shape(indices).dimensions + [1]), step: "tuples")
    let gathered = try add(
      GatherND(batchDimensions: batch), moved, tuples, step: between.isEmpty ? nil : "gathered")
    let places = Array(batch..<(batch + picked))
    let order = Array(0..<batch) + between.indices.map { batch + picked + $0 } + places
    return try transpose(gathered, order + Array(order.count..<shape(gathered).rank))
  }
}

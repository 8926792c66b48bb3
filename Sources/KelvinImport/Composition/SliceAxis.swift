package import KelvinGraph

/// The elements that a slice takes along one axis. Its start may be known only when the model runs.
package enum SliceAxis {
  case known(SliceRange)
  /// `count` elements with distance `step`, from a start position in an integer tensor of one element; a negative
  /// position counts from the end.
  case from(ValueID, count: Int, step: Int = 1)

  package var count: Int {
    switch self {
    case .known(let range): range.count
    case .from(_, let count, _): count
    }
  }

  package func isWhole(of size: Int) -> Bool {
    if case .known(let range) = self { range == SliceRange(start: 0, count: size) } else { false }
  }
}

extension Emitter {
  /// Returns the elements of a slice. A position outside an axis is an error of the prediction, as in `Gather`.
  package func slice(_ x: ValueID, _ axes: [SliceAxis], step: String? = nil) throws -> ValueID {
    let ranges = zip(axes, shape(x).dimensions).map { axis, size in
      if case .known(let range) = axis { range } else { SliceRange(start: 0, count: size) }
    }
    let moving = axes.indices.filter { if case .from = axes[$0] { true } else { false } }
    var result = try slice(x, ranges, step: moving.isEmpty ? step : "fixed")
    for axis in moving {
      guard case .from(let begin, let count, let stride) = axes[axis] else { continue }
      let places = try binary(
        .add, try start(begin, size: shape(x)[axis], step: "start\(axis)"), offsets(count, by: stride, like: begin),
        step: "places\(axis)")
      result = try add(Gather(axis: axis), result, places, step: axis == moving.last ? step : "taken\(axis)")
    }
    return result
  }

  /// Returns a copy of x with the elements of a slice replaced. Elements of the update that are outside an axis are
  /// ignored.
  ///
  /// All devices support the operators: the update is expanded to the shape of x, by broadcasting along axes of one
  /// element and by gathers along others, and selected at the elements of the slice.
  ///
  /// - Parameter update: A tensor of x's element type, with the axes' counts as its shape.
  package func replacing(_ axes: [SliceAxis], of x: ValueID, by update: ValueID) throws -> ValueID {
    let source = shape(x)
    var spread = update
    var isInside: ValueID?
    for (axis, range) in axes.enumerated() where !range.isWhole(of: source[axis]) {
      let size = source[axis]
      let (hits, places) = try membership(range, size: size, step: "axis\(axis)")
      if range.count > 1 { spread = try add(Gather(axis: axis), spread, places, step: "spread\(axis)") }
      var along = [Int](repeating: 1, count: source.rank)
      along[axis] = size
      let raised = try reshape(hits, Shape(along), step: "hit\(axis)")
      isInside = try isInside.map { try binary(.logicalAnd, $0, raised, step: "hits\(axis)") } ?? raised
    }
    guard let isInside else { return update }
    return try add(Select(), isInside, spread, x)
  }

  /// Returns for each position of an axis whether the slice contains it, and the index of the slice's element.
  private func membership(_ range: SliceAxis, size: Int, step: String) throws -> (hits: ValueID, places: ValueID) {
    switch range {
    case .known(let range):
      var hits = [Bool](repeating: false, count: size)
      var places = [Int32](repeating: 0, count: size)
      for number in 0..<range.count {
        let place = range.start + number * range.step
        hits[place] = true
        places[place] = Int32(number)
      }
      let truths = Tensor(TensorType(.bool, [size]), rounding: hits.map { $0 ? 1 : 0 })
      return (
        constant(Weight(truths), step: "\(step)/hits"), constant(integers: places.map(Int.init), .int32, shape: [size])
      )
    case .from(let begin, let count, let stride):
      let start = try start(begin, size: size, step: "\(step)/start")
      let offsets = offsets(size, like: begin)
      // The distance from the first element, in the direction of the stride.
      let (to, from) = stride > 0 ? (offsets, start) : (start, offsets)
      let number = try binary(.subtract, to, from, step: "\(step)/number")
      let scalar = scalar(begin)
      let zero = constant(0, scalar, step: "\(step)/first")
      guard count > 1 else {
        let hits = try add(Compare(.equal), number, zero, step: "\(step)/hits")
        return (hits, number)
      }
      let length = constant(Double(stride.magnitude), scalar, step: "\(step)/stride")
      let steps = stride.magnitude == 1 ? number : try binary(.divide, number, length, step: "\(step)/steps")
      let last = constant(Double(count - 1), scalar, step: "\(step)/last")
      let places = try binary(
        .minimum, try binary(.maximum, steps, zero, step: "\(step)/raised"), last, step: "\(step)/places")
      let covered = stride.magnitude == 1 ? places : try binary(.multiply, places, length, step: "\(step)/covered")
      return (try add(Compare(.equal), number, covered, step: "\(step)/hits"), places)
    }
  }

  /// Returns a position counted from the front, as a tensor of one element.
  private func start(_ begin: ValueID, size: Int, step: String) throws -> ValueID {
    let one = try reshape(begin, [1], step: "\(step)/given")
    let scalar = scalar(begin)
    let zero = constant(0, scalar, step: "\(step)/zero")
    let isNegative = try add(Compare(.less), one, zero, step: "\(step)/is_negative")
    let fromEnd = try binary(.add, one, constant(Double(size), scalar, step: "\(step)/size"), step: "\(step)/from_end")
    return try add(Select(), isNegative, fromEnd, one, step: "\(step)/place")
  }

  /// Returns `0, stride, …` in the element type of a value.
  private func offsets(_ count: Int, by stride: Int = 1, like other: ValueID) -> ValueID {
    constant(integers: (0..<count).map { $0 * stride }, scalar(other), shape: [count])
  }
}

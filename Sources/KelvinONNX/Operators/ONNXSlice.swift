import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// A slice. Ranges are attributes before operator set 10 and inputs from then on.
  static let slice = ONNXMapper("Slice", valueDependent: [1, 2, 3, 4]) { c in
    let x = try c.input(0)
    let shape = c.emitter.shape(x)
    let (starts, ends, named, steps): ([Int]?, [Int]?, [Int]?, [Int]?)
    if c.opset < 10 {
      (starts, ends, named, steps) = (c.integers("starts"), c.integers("ends"), c.integers("axes"), nil)
    } else {
      starts = try c.constantIntegers(1, "starts")
      ends = try c.constantIntegers(2, "ends")
      named = try c.constantIntegers(3, "axes")
      steps = try c.constantIntegers(4, "steps")
    }
    guard let starts, let ends else { throw c.emitter.invalid("has no starts and ends") }
    let axes = named ?? Array(starts.indices)
    guard ends.count == starts.count, axes.count == starts.count, steps?.count ?? starts.count == starts.count else {
      throw c.emitter.invalid("starts, ends, axes and steps differ in length")
    }
    _ = try c.emitter.axes(axes, of: x)
    var ranges = shape.dimensions.map { SliceRange(start: 0, count: $0) }
    for (index, axis) in axes.enumerated() {
      let place = try c.emitter.axis(axis, of: x)
      let step = steps?[index] ?? 1
      // A backward slice that starts before the first element is clamped to it; by NumPy's rule it would be empty.
      let start = step < 0 ? max(starts[index], -shape[place]) : starts[index]
      guard let range = SliceRange(start: start, end: ends[index], step: step, size: shape[place]) else {
        throw c.emitter.invalid("step \(step) along axis \(place)")
      }
      ranges[place] = range
    }
    return [try c.emitter.slice(x, ranges)]
  }
}

/// Takes `count` elements from `start` at distance `step` along each axis.
package struct Slice: Operator {
  package static let name = "slice"
  package var starts: [Int]
  package var counts: [Int]
  package var steps: [Int]

  package init(starts: [Int], counts: [Int], steps: [Int]) {
    self.starts = starts
    self.counts = counts
    self.steps = steps
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    let shape = inputs[0].shape
    guard starts.count == shape.rank, counts.count == shape.rank, steps.count == shape.rank else {
      throw OperatorError("expected a start, count and step for each axis of \(inputs[0])")
    }
    for axis in 0..<shape.rank where counts[axis] != 0 {
      let (reach, overflow) = (max(counts[axis], 1) - 1).multipliedReportingOverflow(by: steps[axis])
      let (last, overflowed) = starts[axis].addingReportingOverflow(reach)
      let valid = 0..<shape[axis]
      guard counts[axis] > 0, steps[axis] != 0, !overflow, !overflowed, valid.contains(starts[axis]),
        valid.contains(last)
      else {
        throw OperatorError(
          "axis \(axis) of \(inputs[0]): \(counts[axis]) elements from \(starts[axis]) by \(steps[axis]) are outside it"
        )
      }
    }
    return [TensorType(inputs[0].scalar, Shape(counts))]
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    counts.indices.map { axis in
      SplitAxis(axis) { range in
        guard let (first, last) = range.first.flatMap({ first in range.last.map { (first, $0) } }) else { return nil }
        let ends = [first, last].map { starts[axis] + $0 * steps[axis] }.sorted()
        var op = self
        op.starts[axis] = starts[axis] + first * steps[axis] - ends[0]
        op.counts[axis] = range.count
        return Part(op, [Part.Operand(axis: axis, range: ends[0]..<ends[1] + 1)])
      }
    }
  }

  package static let summary = OperatorSummary(
    formula: "y[i] = x[start + i · step], along each axis",
    inputs: [("x", "any type")],
    outputs: [("y", "x's element type, shape `counts`")])

  package static let schema = AttributeSchema(
    Slice(starts: [], counts: [], steps: []), .required("starts", \.starts, "the first position of each axis"),
    .required("counts", \.counts, "number of elements of each axis"),
    .optional(
      "steps", \.steps, "distance of positions, not zero; negative ones run backward", "1 for each axis",
      default: { $0.counts.map { _ in 1 } }))
}

import KelvinGraph
import KelvinImport

extension ONNXMapper {
  /// Reductions. Axes are an attribute, and an input from operator set 13 (`ReduceSum`) or 18 (the others) on.
  static let reductions: [ONNXMapper] = [
    reduce("ReduceL1", .l1), reduce("ReduceL2", .l2), reduce("ReduceLogSum", .logSum),
    reduce("ReduceLogSumExp", .logSumExp), reduce("ReduceMax", .maximum), reduce("ReduceMean", .mean),
    reduce("ReduceMin", .minimum), reduce("ReduceProd", .product), reduce("ReduceSum", .sum),
    reduce("ReduceSumSquare", .sumOfSquares), argReduce("ArgMax", .maximum), argReduce("ArgMin", .minimum),
  ]

  private static func argReduce(_ name: String, _ function: ArgReduce.Function) -> ONNXMapper {
    ONNXMapper(name) { c in
      let x = try c.input(0)
      let op = ArgReduce(
        function, axis: try c.emitter.axis(c.integer("axis", default: 0), of: x),
        keepsDimensions: c.flag("keepdims", default: true), takesLast: c.flag("select_last_index"))
      return [try c.emitter.add(op, x)]
    }
  }

  /// Returns a mapper for a reduction. If axes are omitted and this does not mean all axes, each element is reduced
  /// alone.
  private static func reduce(_ name: String, _ function: Reduce.Function) -> ONNXMapper {
    ONNXMapper(name, valueDependent: [1]) { c in
      let x = try c.input(0)
      let named = try c.integers(attribute: "axes", orInput: 1) ?? []
      if named.isEmpty, c.flag("noop_with_empty_axes") { return [try c.emitter.element(of: function, x)] }
      let axes = named.isEmpty ? Array(0..<c.emitter.shape(x).rank) : try c.emitter.axes(named, of: x)
      let op = Reduce(function, axes: axes, keepsDimensions: c.flag("keepdims", default: true))
      guard c.emitter.scalar(x) == .bool else { return [try c.emitter.add(op, x)] }
      let numbers = try c.emitter.cast(x, to: .uint8, step: "numbers")
      return [try c.emitter.cast(try c.emitter.add(op, numbers, step: "reduced"), to: .bool)]
    }
  }
}

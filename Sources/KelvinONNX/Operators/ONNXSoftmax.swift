import KelvinGraph
import KelvinImport

extension ONNXMapper {
  static let softmaxes: [ONNXMapper] = [softmax, logSoftmax, hardmax]

  private static let softmax = ONNXMapper("Softmax") { c in
    [try c.overSoftmaxAxes { x, axis, emitter, step in try emitter.add(Softmax(axis: axis), x, step: step) }]
  }

  private static let logSoftmax = ONNXMapper("LogSoftmax") { c in
    [try c.overSoftmaxAxes { x, axis, emitter, step in try emitter.logSoftmax(x, axis: axis, step: step) }]
  }

  /// One at the first largest element, zero elsewhere.
  private static let hardmax = ONNXMapper("Hardmax") { c in
    [
      try c.overSoftmaxAxes { x, axis, emitter, step in
        let largest = ArgReduce(.maximum, axis: axis, keepsDimensions: true)
        let place = try emitter.add(largest, x, step: "place")
        var sizes = [Int](repeating: 1, count: emitter.shape(x).rank)
        let count = emitter.shape(x)[axis]
        sizes[axis] = count
        let type = TensorType(.int64, Shape(sizes))
        let positions = emitter.constant(
          Weight(type) { Tensor(type, rounding: (0..<count).map(Double.init)) }, step: "positions")
        let hit = try emitter.add(Compare(.equal), positions, place, step: "hit")
        return try emitter.add(Cast(emitter.scalar(x)), hit, step: step)
      }
    ]
  }
}

extension ONNXOperation {
  /// Applies a function along the operator's axis: one axis from operator set 13 on, before that all axes from `axis`
  /// on, flattened to one.
  fileprivate func overSoftmaxAxes(
    _ apply: (ValueID, Int, Emitter, String?) throws -> ValueID
  ) throws -> ValueID {
    let x = try input(0)
    let shape = emitter.shape(x)
    let requested = integer("axis", default: opset < 13 ? 1 : -1)
    if opset < 13, requested == shape.rank || shape.rank == 0 {
      let flat = try emitter.reshape(x, Shape(shape.dimensions + [1]), step: "flat")
      return try emitter.reshape(try apply(flat, shape.rank, emitter, "along_last_axis"), shape)
    }
    let axis = try emitter.axis(requested, of: x)
    if opset >= 13 || axis == shape.rank - 1 { return try apply(x, axis, emitter, nil) }
    let rows = shape.dimensions[..<axis].reduce(1, *)
    let columns = shape.dimensions[axis...].reduce(1, *)
    let flat = try emitter.reshape(x, [rows, columns], step: "flat")
    return try emitter.reshape(try apply(flat, 1, emitter, "along_last_axis"), shape)
  }
}

/// Rotates pairs of elements of the last axis by angles whose cosines and sines are given.
package struct RotaryEmbedding: DecomposableOperator {
  package static let name = "rotary_embedding"
  package var width: Int
  /// Whether the elements of a pair are neighbors; otherwise they are elements of the two halves.
  package var isInterleaved: Bool

  package init(width: Int, isInterleaved: Bool = false) {
    self.width = width
    self.isInterleaved = isInterleaved
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 3...3)
    let x = inputs[0]
    guard x.scalar.isFloatingPoint, let length = x.shape.dimensions.last, (2...max(length, 2)).contains(width),
      width <= length, width % 2 == 0
    else { throw OperatorError("expected floating-point rows of at least \(width) elements, got \(x)") }
    let angles = Shape(x.shape.dimensions.dropLast() + [width / 2])
    for (name, type) in zip(["cosines", "sines"], inputs[1...]) {
      guard type.scalar == x.scalar, type.shape.dimensions.last == width / 2,
        type.shape.broadcast(with: angles) == angles
      else { throw OperatorError("\(name): expected \(x.scalar.rawValue) for \(angles), got \(type)") }
    }
    return [x]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    3 * Double(outputs[0].count / max(1, outputs[0].shape.dimensions.last ?? 1)) * Double(width)
  }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    let unit = precision.unitRoundoff(inputs[0].scalar)
    return Tolerance(relative: 8 * unit, absolute: 4 * unit)
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    Array(elementwiseAxes(inputs, output).dropLast())
  }

  package static let summary = OperatorSummary(
    formula: "(y_a, y_b) = (a · cosine - b · sine, a · sine + b · cosine), for each pair (a, b)",
    notes: """
      The first `width` elements of each row are rotated, the others are kept. Pair i has the elements i and \
      width / 2 + i; if `interleaved`, 2i and 2i + 1.
      """,
    inputs: [
      ("x", "floating-point"), ("cosines", "x's element type, `[…, width / 2]`, broadcasts to the rows of x"),
      ("sines", "like cosines"),
    ],
    outputs: [("y", "x's type")])

  package static let schema = AttributeSchema(
    RotaryEmbedding(width: 0), .required("width", \.width, "number of elements of a row that are rotated"),
    .optional("interleaved", \.isInterleaved, "whether the elements of a pair are neighbors"))
}

extension RotaryEmbedding {
  package func decomposition(_ types: [TensorType]) throws(GraphError) -> Graph? {
    var body = Graph(bodyOf: types)
    let (sizes, last) = (types[0].shape.dimensions, types[0].shape.rank - 1)
    func part(_ start: Int, _ count: Int, _ step: Int, _ name: String) throws(GraphError) -> ValueID {
      var slice = Slice(starts: sizes.map { _ in 0 }, counts: sizes, steps: sizes.map { _ in 1 })
      (slice.starts[last], slice.counts[last], slice.steps[last]) = (start, count, step)
      return try body.append(slice, [body.inputs[0]], name)
    }
    let half = width / 2
    let a = try part(0, half, isInterleaved ? 2 : 1, "first")
    let b = try part(isInterleaved ? 1 : half, half, isInterleaved ? 2 : 1, "second")
    func rotated(
      _ function: Binary.Function, _ x: Int, _ y: Int, _ name: String
    ) throws(GraphError) -> ValueID {
      let left = try body.append(Binary(.multiply), [a, body.inputs[x]], "\(name)/first")
      let right = try body.append(Binary(.multiply), [b, body.inputs[y]], "\(name)/second")
      return try body.append(Binary(function), [left, right], name)
    }
    let halves = [try rotated(.subtract, 1, 2, "turned_first"), try rotated(.add, 2, 1, "turned_second")]
    var turned: ValueID
    if isInterleaved {
      let pairs = Reshape(Shape(sizes.dropLast() + [half, 1]))
      let columns = [try body.append(pairs, [halves[0]], "firsts"), try body.append(pairs, [halves[1]], "seconds")]
      turned = try body.append(Concat(axis: last + 1), columns, "pairs")
      turned = try body.append(Reshape(Shape(sizes.dropLast() + [width])), [turned], "turned")
    } else {
      turned = try body.append(Concat(axis: last), halves, "turned")
    }
    if width < sizes[last] {
      turned = try body.append(Concat(axis: last), [turned, part(width, sizes[last] - width, 1, "rest")], "all")
    }
    body.outputs = [turned]
    return body
  }
}

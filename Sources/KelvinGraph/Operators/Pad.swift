/// Adds elements before and after each axis.
package struct Pad: DecomposableOperator {
  package enum Mode: Hashable, Sendable {
    case constant(Float)
    /// Mirrored at the first and last element, which are not repeated.
    case reflect
    /// The first and last element repeated.
    case edge
    /// The elements at the other end, as if x were repeated.
    case wrap
  }

  package static let name = "pad"
  package var before: [Int]
  package var after: [Int]
  package var mode: Mode

  package init(before: [Int], after: [Int], mode: Mode) {
    self.before = before
    self.after = after
    self.mode = mode
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 1...1)
    var shape = inputs[0].shape
    guard before.count == shape.rank, after.count == shape.rank,
      (before + after).allSatisfy({ (0..<(1 << 31)).contains($0) })
    else { throw OperatorError("expected a non-negative padding before and after each axis of \(inputs[0])") }
    for axis in 0..<shape.rank {
      if mode == .reflect, max(before[axis], after[axis]) >= max(shape[axis], 1) {
        throw OperatorError(
          "axis \(axis) of \(inputs[0]) is too short to be mirrored \(before[axis]) and \(after[axis])")
      }
      if mode == .edge, before[axis] + after[axis] > 0, shape[axis] == 0 {
        throw OperatorError("axis \(axis) of \(inputs[0]) has no edge to repeat")
      }
      if mode == .wrap, max(before[axis], after[axis]) > shape[axis] {
        throw OperatorError(
          "axis \(axis) of \(inputs[0]) has fewer elements than the padding \(before[axis]) and \(after[axis])")
      }
      shape[axis] += before[axis] + after[axis]
    }
    guard shape.isAddressable else { throw OperatorError("the padded shape \(shape) is too large") }
    return [TensorType(inputs[0].scalar, shape)]
  }

  package func splitAxes(_ inputs: [TensorType], _ output: TensorType) -> [SplitAxis] {
    sameAxes(output) { before[$0] + after[$0] > 0 }
  }

  /// A padding by the elements at the other end as a gather along each padded axis.
  package func decomposition(_ types: [TensorType]) throws(GraphError) -> Graph? {
    guard mode == .wrap else { return nil }
    var body = Graph(bodyOf: types)
    var result = body.inputs[0]
    for axis in before.indices where before[axis] + after[axis] > 0 {
      let (size, first) = (types[0].shape[axis], before[axis])
      let type = TensorType(.int64, [first + size + after[axis]])
      let places = Weight(type) { Tensor(type, rounding: (0..<type.count).map { Double(($0 - first + size) % size) }) }
      result = try body.append(
        Gather(axis: axis), [result, body.constant("places_\(axis)", places)], "wrapped_\(axis)")
    }
    if result == body.inputs[0] { result = try body.append(Reshape(types[0].shape), [result], "same") }
    body.outputs = [result]
    return body
  }

  package static let summary = OperatorSummary(
    formula: "y[i] = x[i - before], and the padding outside",
    notes: """
      `constant` adds a number. `reflect` mirrors x at its first and last element, which are not repeated. `edge` \
      repeats the first and last element. `wrap` continues with the elements at the other end.
      """,
    inputs: [("x", "any type")],
    outputs: [("y", "x's shape grown by `before + after`, x's element type")])

  package static let schema = AttributeSchema(
    Pad(before: [], after: [], mode: .edge), .required("before", \.before, "number of elements before each axis"),
    .required("after", \.after, "number of elements after each axis"),
    .required("mode", \.mode, "the value of the added elements"))
}

extension Pad.Mode: AttributeConvertible {
  package static let attributeType = "`constant(value)`, `reflect`, `edge`, `wrap`"

  package var attributeValue: AttributeValue {
    switch self {
    case .constant(let value): .call("constant", [value.attributeValue])
    case .reflect: .text("reflect")
    case .edge: .text("edge")
    case .wrap: .text("wrap")
    }
  }

  package init(_ value: AttributeValue) throws(OperatorError) {
    switch value {
    case .call("constant", let values) where values.count == 1: self = .constant(try Float(values[0]))
    case .text("reflect"): self = .reflect
    case .text("edge"): self = .edge
    case .text("wrap"): self = .wrap
    default: throw .expected("constant(…), reflect, edge or wrap", value)
    }
  }
}

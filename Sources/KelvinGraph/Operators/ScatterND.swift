/// A copy of x in which the slices that tuples of indices address are combined with updates.
package struct ScatterND: Operator {
  package static let name = "scatter_nd"
  package var reduction: ScatterReduction
  package var skipsOutside: Bool

  package init(reduction: ScatterReduction = .replace, skipsOutside: Bool = false) {
    self.reduction = reduction
    self.skipsOutside = skipsOutside
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 3...3)
    let (x, indices, updates) = (inputs[0], inputs[1], inputs[2])
    guard !indices.scalar.isFloatingPoint, indices.scalar != .bool, let depth = indices.shape.dimensions.last,
      depth <= x.shape.rank
    else { throw OperatorError("expected integer indices […, k] with k at most \(x.shape.rank), got \(indices)") }
    let expected = TensorType(
      x.scalar, Shape(indices.shape.dimensions.dropLast() + x.shape.dimensions[depth...]))
    guard updates == expected else { throw OperatorError("updates: expected \(expected), got \(updates)") }
    try reduction.check(x)
    return [x]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { Double(inputs[2].count) }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    reduction.tolerance(
      precision, inputs[0].scalar, length: inputs[1].shape.dimensions.dropLast().reduce(1, *))
  }

  package static let summary = OperatorSummary(
    formula: "y = x, then y[indices[n…, 0], …, indices[n…, k - 1]] = f(y[…], updates[n…])",
    notes: """
      Each tuple of indices is a position along the first `k` axes of x. Updates are applied in row-major order. \
      Negative indices count from the end. An index outside its axis is an error on the CPU; other devices skip its \
      update.
      """,
    inputs: [
      ("x", "any type; booleans only if elements are replaced"),
      ("indices", "integers `[n…, k]`"),
      ("updates", "x's element type, `[n…]` followed by the remaining axes of x"),
    ],
    outputs: [("y", "x's type")],
    functions: ScatterReduction.entries)

  package static let schema = AttributeSchema(
    ScatterND(), .optional("reduction", \.reduction, "f, one of the functions below"),
    .optional("skips_outside", \.skipsOutside, "whether a tuple with an index outside its axis writes nothing"))
}

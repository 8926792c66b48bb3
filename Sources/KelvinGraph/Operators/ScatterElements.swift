/// A copy of x in which single elements along one axis are combined with updates.
package struct ScatterElements: Operator {
  package static let name = "scatter_elements"
  package var axis: Int
  package var reduction: ScatterReduction
  package var skipsOutside: Bool

  package init(axis: Int, reduction: ScatterReduction = .replace, skipsOutside: Bool = false) {
    self.axis = axis
    self.reduction = reduction
    self.skipsOutside = skipsOutside
  }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 3...3)
    let (x, indices, updates) = (inputs[0], inputs[1], inputs[2])
    try OperatorError.requireIndices(indices, along: axis, of: x)
    let expected = TensorType(x.scalar, indices.shape)
    guard updates == expected else { throw OperatorError("updates: expected \(expected), got \(updates)") }
    try reduction.check(x)
    return [x]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double { Double(inputs[2].count) }

  package func tolerance(_ precision: Precision, _ inputs: [TensorType]) -> Tolerance {
    reduction.tolerance(precision, inputs[0].scalar, length: inputs[1].shape[axis])
  }

  package static let summary = OperatorSummary(
    formula: "y = x, then y[…, indices[…, i, …], …] = f(y[…, indices[…, i, …], …], updates[…, i, …])",
    notes: """
      Updates are applied in row-major order. Negative indices count from the end. An index outside its axis is an \
      error on the CPU; other devices skip its update.
      """,
    inputs: [
      ("x", "any type; booleans only if elements are replaced"),
      ("indices", "integers, of x's rank and no longer than x outside the axis"),
      ("updates", "x's element type in the shape of the indices"),
    ],
    outputs: [("y", "x's type")],
    functions: ScatterReduction.entries)

  package static let schema = AttributeSchema(
    ScatterElements(axis: 0), .required("axis", \.axis, "the axis, counted from the front"),
    .optional("reduction", \.reduction, "f, one of the functions below"),
    .optional("skips_outside", \.skipsOutside, "whether an index outside the axis writes nothing"))
}

extension ScatterReduction {
  func check(_ x: TensorType) throws(OperatorError) {
    guard x.scalar != .bool || self == .replace else { throw OperatorError("\(rawValue) takes numbers, got \(x)") }
  }

  /// Returns the tolerance of scattered updates.
  ///
  /// - Parameter length: The greatest number of updates of one element.
  func tolerance(_ precision: Precision, _ scalar: ScalarType, length: Int) -> Tolerance {
    switch self {
    case .replace, .minimum, .maximum: .exact
    case .add: .accumulation(precision, scalar, length: length)
    case .multiply: .elementwise(precision, scalar, roundings: 4 + Double(length))
    }
  }
}

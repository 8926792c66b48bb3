/// One of two computations, selected by a condition that is known when the model runs.
package struct Branch: ControlOperator {
  package static let name = "branch"
  package var results: [TensorType]

  package init(results: [TensorType]) { self.results = results }

  package var ownOperandCount: Int { 1 }
  package var roles: [Region.Role] { [.then, .otherwise] }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    guard let condition = inputs.first, condition.count == 1 else {
      throw OperatorError("expected a condition with one element, got \(inputs.first?.description ?? "none")")
    }
    return results
  }

  package func signature(
    of role: Region.Role, operands: [TensorType]
  ) throws(OperatorError) -> (inputs: [TensorType], outputs: [TensorType]) { ([], results) }

  package static let summary = OperatorSummary(
    formula: "y… = then(captures) if the condition is not zero, else otherwise(captures)",
    notes: "The regions `then` and `else` have their captures as inputs.",
    inputs: [
      ("condition", "one number or boolean"),
      ("captures…", "the values that the regions read"),
    ],
    outputs: [("y…", "the outputs of the region that runs")])

  package static let schema = AttributeSchema(
    Branch(results: []), .required("results", \.results, "the types of the outputs, the same for both regions"))
}

/// One of two computations, selected by a condition that is known when the model runs.
///
/// Operands: the condition, one number or boolean, which holds if it is not zero, then the captures of the regions.
/// Regions: `then` and `else`, whose inputs are their captures. Outputs: those of the region that runs.
package struct Branch: ControlOperator {
  package static let name = "branch"
  /// The types of the outputs, the same for both regions.
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

  package static let schema = AttributeSchema(Branch(results: []), .required("results", \.results))
}

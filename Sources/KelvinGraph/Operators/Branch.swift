/// One of two computations, by a condition known when the model runs.
///
/// Operands: the condition, one number or boolean, which holds where it is not zero; then what the regions capture.
/// Regions: `then` and `else`, given nothing but their captures. Outputs: those of the region taken.
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

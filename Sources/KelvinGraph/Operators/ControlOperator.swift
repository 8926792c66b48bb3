/// An operator that the runtime executes by running its node's regions; devices have no kernels for it.
package protocol ControlOperator: Operator {
  /// The number of the operator's own operands; captured values follow them.
  var ownOperandCount: Int { get }

  /// The roles of the regions that a node of this operator has.
  var roles: [Region.Role] { get }

  /// Returns the types of a region's inputs before its captures, and of its outputs.
  ///
  /// - Parameter operands: The types of the node's own operands.
  func signature(
    of role: Region.Role, operands: [TensorType]
  ) throws(OperatorError) -> (inputs: [TensorType], outputs: [TensorType])
}

/// All control flow operators, which the runtime executes.
package let controlOperatorCatalog: [any ControlOperator.Type] = [
  Branch.self,
  Loop.self,
]

/// An operator that the runtime executes, by running its node's regions; no device has a kernel for it.
package protocol ControlOperator: Operator {
  /// How many operands the operator itself names; captured values follow.
  var ownOperandCount: Int { get }

  /// The roles of the regions that a node of this operator has.
  var roles: [Region.Role] { get }

  /// The types of the inputs that a region is given before its captures, and of the outputs it must have.
  ///
  /// - Parameter operands: the types of the node's own operands.
  func signature(
    of role: Region.Role, operands: [TensorType]
  ) throws(OperatorError) -> (inputs: [TensorType], outputs: [TensorType])
}

/// Control flow, which is no device's work.
package let controlOperatorCatalog: [any ControlOperator.Type] = [
  Branch.self,
  Loop.self,
]

/// A computation that is repeated, with values that are carried from each iteration to the next.
///
/// A loop runs while the number of iterations is below its limit and, if it is conditional, its condition holds. The
/// first condition is an operand; afterwards it is an output of the latest iteration. For loops that test a condition
/// region first, emit the condition before the loop and again at the end of its body.
///
/// Operands: the limit, one integer (negative for none); for a conditional loop the condition, one element; the initial
/// carried values; then the captures of the body.
///
/// Region: `body`, whose inputs are the index of the iteration (int64 `[]`, from 0) and the carried values. Its outputs
/// are the condition, for a conditional loop, the carried values, and one row for each accumulated output.
///
/// Outputs: the final carried values; the accumulated outputs, row by row along their first axis, with zeros after the
/// last iteration; and the number of iterations, int64 `[]`.
package struct Loop: ControlOperator {
  package static let name = "loop"
  /// The number of carried values.
  package var carriedCount: Int
  /// The types of the accumulated outputs; more iterations than rows of the first axis are an error.
  package var accumulated: [TensorType]
  package var isConditional: Bool

  package init(carriedCount: Int, accumulated: [TensorType] = [], isConditional: Bool = false) {
    self.carriedCount = carriedCount
    self.accumulated = accumulated
    self.isConditional = isConditional
  }

  package var firstCarriedOperand: Int { isConditional ? 2 : 1 }
  package var ownOperandCount: Int { firstCarriedOperand + carriedCount }
  package var roles: [Region.Role] { [.body] }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    guard inputs.count >= ownOperandCount else {
      throw OperatorError("takes \(ownOperandCount) operands and what its body captures, got \(inputs.count)")
    }
    guard inputs[0].count == 1, !inputs[0].scalar.isFloatingPoint, inputs[0].scalar != .bool else {
      throw OperatorError("expected one integer as the iteration limit, got \(inputs[0])")
    }
    guard !isConditional || inputs[1].count == 1 else {
      throw OperatorError("expected a condition with one element, got \(inputs[1])")
    }
    for type in accumulated where type.shape.rank == 0 {
      throw OperatorError("accumulates rows along the first axis, \(type) has none")
    }
    return Array(inputs[firstCarriedOperand..<ownOperandCount]) + accumulated + [TensorType(.int64, [])]
  }

  package func signature(
    of role: Region.Role, operands: [TensorType]
  ) throws(OperatorError) -> (inputs: [TensorType], outputs: [TensorType]) {
    let carried = Array(operands[firstCarriedOperand..<ownOperandCount])
    let rows = accumulated.map { TensorType($0.scalar, Shape(Array($0.shape.dimensions.dropFirst()))) }
    let condition = isConditional ? [TensorType(operands[1].scalar, operands[1].shape)] : []
    return ([TensorType(.int64, [])] + carried, condition + carried + rows)
  }

  package static let schema = AttributeSchema(
    Loop(carriedCount: 0), .required("carried", \.carriedCount), .optional("accumulated", \.accumulated),
    .optional("conditional", \.isConditional))
}

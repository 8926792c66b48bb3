/// A computation that is repeated, each trip with what the one before it carried over.
///
/// A loop makes trips while fewer than its limit were made and, where it is conditional, its condition holds: the
/// operand before the first trip, then what the latest trip said. Loops that test a condition region first are written
/// in this form by writing the condition before the loop and again at the end of its body.
///
/// Operands: the limit, one integer (a negative one is none); where the loop is conditional the condition, one element;
/// the first values of what is carried; then what the body captures. Region: `body`, given the trip's number (int64
/// `[]`, from 0) and the carried values; its outputs are the condition, where the loop is conditional, what is carried
/// over, and one row for each accumulated output. Outputs: what the last trip carried over; the accumulated outputs,
/// row by row along their first axis, rows past the last trip zero; and the number of trips, int64 `[]`.
package struct Loop: ControlOperator {
  package static let name = "loop"
  /// How many values are carried from trip to trip.
  package var carriedCount: Int
  /// The types of the accumulated outputs; more trips than the first axis has rows are an error.
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
      throw OperatorError("expected one integer as the limit of trips, got \(inputs[0])")
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

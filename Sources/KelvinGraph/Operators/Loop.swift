/// A computation that is repeated, with values that are carried from each iteration to the next. For loops that test a
/// condition region first, emit the condition before the loop and again at the end of its body.
package struct Loop: ControlOperator {
  package static let name = "loop"
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

  package static let summary = OperatorSummary(
    formula: "while i < limit and condition: condition, carried…, rows… = body(i, carried…, captures…)",
    notes: """
      The index of the iteration is int64 `[]` and begins at 0. More iterations than rows of an accumulated output are \
      an error.
      """,
    inputs: [
      ("limit", "one integer; negative for none"),
      ("condition", "only if `conditional`: one element; afterwards an output of the latest iteration"),
      ("carried…", "the initial carried values"),
      ("captures…", "the values that the body reads"),
    ],
    outputs: [
      ("carried…", "the final carried values"),
      ("accumulated…", "one row for each iteration along the first axis, with zeros after the last"),
      ("iterations", "the number of iterations, int64 `[]`"),
    ])

  package static let schema = AttributeSchema(
    Loop(carriedCount: 0), .required("carried", \.carriedCount, "number of carried values"),
    .optional("accumulated", \.accumulated, "the types of the accumulated outputs"),
    .optional("conditional", \.isConditional, "whether the body computes a condition"))
}

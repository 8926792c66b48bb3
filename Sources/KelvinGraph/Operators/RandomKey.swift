/// What tells random numbers of one run from those of another: the seed's lower and upper word, and how often the node has run.
///
/// No inputs. Output: uint32 `[4]`. It counts its runs from 0 since it was compiled, in a loop every trip, so equal seeds repeat
/// a sequence. Without a seed one is drawn from the system.
package struct RandomKey: Operator {
  package static let name = "random_key"
  package static let type = TensorType(.uint32, [4])
  package var seed: Int?
  package var isPure: Bool { false }

  package init(seed: Int? = nil) { self.seed = seed }

  package func infer(_ inputs: [TensorType]) throws(OperatorError) -> [TensorType] {
    try OperatorError.require(inputs, 0...0)
    return [Self.type]
  }

  package func operations(_ inputs: [TensorType], _ outputs: [TensorType]) -> Double {
    Double(outputs[0].count)
  }

  package static let schema = AttributeSchema(RandomKey(), .optional("seed", \.seed))
}

/// The key of random numbers: the lower and upper word of the seed, and the number of runs of the node.
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

  package static let summary = OperatorSummary(
    formula: "y = [seed mod 2^32, floor(seed / 2^32), runs mod 2^32, floor(runs / 2^32)]",
    notes: """
      The node counts its runs, in a loop its iterations, from 0 since compilation, so that equal seeds repeat a \
      sequence.
      """,
    outputs: [("y", "uint32 `[4]`")])

  package static let schema = AttributeSchema(
    RandomKey(), .optional("seed", \.seed, "the seed; without one, the system generates it"))
}

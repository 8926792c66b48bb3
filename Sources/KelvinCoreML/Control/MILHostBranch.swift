import KelvinImport

/// A `cond` that the host executes: it evaluates the condition and runs one block.
struct MILHostBranch {
  let name: String
  let condition: String
  let then: MILBlock
  let otherwise: MILBlock
  let results: [String]

  /// Returns nil if the operation is not a well-formed branch, which graph building refuses, or if the condition is a
  /// literal.
  init?(_ operation: MILOperation) {
    guard operation.kind == MILControl.branch.name, operation.blocks.count == 2,
      let condition = operation.inputs["pred"]?.first?.name
    else { return nil }
    let (then, otherwise) = (operation.blocks[0], operation.blocks[1])
    results = operation.outputs.map(\.name)
    guard [then, otherwise].allSatisfy({ $0.inputs.isEmpty && $0.outputs.count == operation.outputs.count }) else {
      return nil
    }
    name = operation.name
    (self.condition, self.then, self.otherwise) = (condition, then, otherwise)
  }
}

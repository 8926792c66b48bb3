import KelvinImport

/// A `cond` of which one block is run, by itself.
struct MILHostBranch {
  let name: String
  let condition: String
  let then: MILBlock
  let otherwise: MILBlock
  let results: [String]

  /// Nil of what is no branch as the operation's text has it, which is refused when it is written, and of one whose side the
  /// file says.
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

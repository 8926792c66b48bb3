import KelvinGraph
import KelvinImport

/// A mapper that emits a MIL operation with blocks, or an operation on a state.
struct MILControl: OperationMapper {
  let name: String
  let map: @Sendable (MILContext, MILGraphSource) throws -> [ValueID]

  static let byName: [String: MILControl] = table([branch, whileLoop, readState, writeState, updateState])
}

extension MILGraphSource {
  /// Emits a block whose inputs are the given values, and returns its outputs.
  func outputs(of block: MILBlock, _ given: [ValueID], _ c: MILContext) throws -> [ValueID] {
    let (operation, scope) = (c.operation, c.scope)
    guard block.inputs.count == given.count else {
      throw c.emitter.invalid("a block has \(block.inputs.count) inputs, expected \(given.count)")
    }
    return try scope.inside {
      for (input, id) in zip(block.inputs, given) { try scope.define(input.name, id, by: operation.name) }
      try emit(block, scope)
      return try block.outputs.map { try scope.value($0, reader: "\(operation.kind) '\(operation.name)'") }
    }
  }
}

extension MILContext {
  func block(_ index: Int) throws -> MILBlock {
    let blocks = operation.blocks
    guard blocks.count == 2 else { throw emitter.invalid("has \(blocks.count) blocks, expected 2") }
    return blocks[index]
  }
}

import KelvinGraph
import KelvinImport

/// A `while_loop` that the host executes, one iteration after another. The condition's block runs before the loop, on
/// the initial values, and at the end of the body, on the values that an iteration produces.
struct MILHostLoop {
  let name: String
  /// The loop's variables; a result is the name of the operation's output, or nil if it has no such output.
  let carried: [LoopPart.Carried]
  /// The body's operations, followed by the condition's.
  let body: [MILOperation]
  /// The name of the value that tells whether there is another iteration.
  let goesOn: String
  private let operation: MILOperation
  private let test: MILBlock

  /// The names of the values that an iteration produces.
  var results: [String] { [goesOn] + carried.map(\.left) }

  /// Returns nil if the operation is not a well-formed loop, which graph building refuses.
  init?(_ operation: MILOperation) {
    guard operation.kind == MILControl.whileLoop.name, operation.blocks.count == 2,
      let variables = operation.inputs["loop_vars"]
    else { return nil }
    let (test, body) = (operation.blocks[0], operation.blocks[1])
    let count = variables.count
    guard test.inputs.count == count, test.outputs.count == 1, body.inputs.count == count, body.outputs.count == count
    else { return nil }
    self.operation = operation
    self.test = test
    name = operation.name
    carried = variables.indices.map { index in
      LoopPart.Carried(
        start: variables[index].name ?? "\(operation.name)/variable\(index)", given: body.inputs[index].name,
        left: body.outputs[index], result: index < operation.outputs.count ? operation.outputs[index].name : nil)
    }
    let next = test.renamed(carried.map(\.left), others: "\(operation.name)/next/")
    self.body = body.operations + next.operations
    goesOn = next.outputs[0]
  }

  /// Returns the name of the value that tells whether there is a first iteration, and the operations that compute it;
  /// constants come first.
  func first(file: String) throws(FormatError) -> (goesOn: String, operations: [MILOperation]) {
    let first = test.renamed(carried.map(\.start), others: "\(name)/first/")
    var constants: [MILOperation] = []
    for (carried, variable) in zip(carried, operation.inputs["loop_vars"] ?? []) {
      guard case .value(let value) = variable else { continue }
      constants.append(
        try MILOperation(
          kind: "const", inputs: [:], outputs: [MILNamedType(type: value.type, name: carried.start)], blocks: [],
          attributes: ["val": value], index: operation.index, file: file, offset: operation.offset))
    }
    return (first.outputs[0], constants + first.operations)
  }
}

extension MILBlock {
  /// Returns the block with other names for its inputs, and a prefix before the names of its values. Sibling blocks may
  /// use the same names.
  fileprivate func renamed(_ given: [String], others prefix: String) -> MILBlock {
    var names = Dictionary(zip(inputs.map(\.name), given)) { first, _ in first }
    for output in operations.flatMap(\.outputs) { names[output.name] = prefix + output.name }
    return renamed(names)
  }

  private func renamed(_ names: [String: String]) -> MILBlock {
    var block = self
    block.outputs = outputs.map { names[$0] ?? $0 }
    block.operations = operations.map { operation in
      let inner = operation.blocks.map { block in
        let own = Set(block.inputs.map(\.name) + block.operations.flatMap { $0.outputs.map(\.name) })
        return block.renamed(names.filter { !own.contains($0.key) })
      }
      return operation.renamed(names, blocks: inner)
    }
    return block
  }
}

extension MILOperation {
  /// Returns the operation with other names for its inputs and outputs.
  fileprivate func renamed(_ names: [String: String], blocks: [MILBlock]) -> MILOperation {
    var operation = self
    operation.inputs = inputs.mapValues { bindings in
      bindings.map { binding in binding.name.map { .name(names[$0] ?? $0) } ?? binding }
    }
    operation.outputs = outputs.map { MILNamedType(type: $0.type, name: names[$0.name] ?? $0.name) }
    operation.blocks = blocks
    return operation
  }
}

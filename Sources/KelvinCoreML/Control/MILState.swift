import KelvinGraph
import KelvinImport

extension MILControl {
  static let readState = MILControl(name: "read_state") { operation, _, scope in
    [try scope.state(try operation.stateName("input", scope))]
  }

  /// The operation that coremltools writes for an update; an operation that reads the state follows it.
  static let writeState = MILControl(name: "write_state") { operation, _, scope in
    try scope.update(try operation.stateName("input", scope), try operation.value("data", scope))
    return []
  }

  /// An update whose result is the new value of the state.
  static let updateState = MILControl(name: "coreml_update_state") { operation, _, scope in
    let name = try operation.stateName("state", scope)
    try scope.update(name, try operation.value("value", scope))
    return [try scope.state(name)]
  }
}

extension MILOperation {
  fileprivate func stateName(_ input: String, _ scope: MILScope) throws -> String {
    guard let name = inputs[input]?.first?.name else { throw scope.emitter.invalid("'\(input)' does not name a state") }
    return name
  }

  /// The state that the operation itself updates.
  private var updatedState: String? {
    switch kind {
    case MILControl.writeState.name: inputs["input"]?.first?.name
    case MILControl.updateState.name: inputs["state"]?.first?.name
    default: nil
    }
  }

  /// The states that the operation's blocks update, at any depth. They are results of the operation in addition to its
  /// outputs.
  var statesOfBlocks: [String] {
    var names: Set<String> = []
    var pending = blocks[...]
    while let block = pending.popFirst() {
      names.formUnion(block.operations.compactMap(\.updatedState))
      for operation in block.operations { pending += operation.blocks }
    }
    return names.sorted()
  }
}

import KelvinGraph
import KelvinImport

extension MILControl {
  static let readState = MILControl(name: "read_state") { c, _ in
    [try c.scope.state(try c.stateName("input"))]
  }

  /// The operation that coremltools writes for an update; an operation that reads the state follows it.
  static let writeState = MILControl(name: "write_state") { c, _ in
    try c.scope.update(try c.stateName("input"), try c.value("data"))
    return []
  }

  /// An update whose result is the new value of the state.
  static let updateState = MILControl(name: "coreml_update_state") { c, _ in
    let name = try c.stateName("state")
    try c.scope.update(name, try c.value("value"))
    return [try c.scope.state(name)]
  }
}

extension MILContext {
  fileprivate func stateName(_ input: String) throws -> String {
    guard let name = operation.inputs[input]?.first?.name else {
      throw emitter.invalid("'\(input)' does not name a state")
    }
    return name
  }
}

extension MILOperation {
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

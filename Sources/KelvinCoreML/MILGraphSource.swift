import KelvinGraph
import KelvinImport

/// Builds graphs from a function of an ML Program, or from one of its stages.
struct MILGraphSource: GraphSource {
  let function: MILFunction
  /// The features that the graph reads.
  let inputs: [Feature]
  /// The names of the values that become the graph's outputs, in order.
  let outputs: [String]
  let file: String
  let files: ModelFiles

  func graph(
    shapes: [String: Shape], computed: [String: TensorType], evaluator: any ConstantEvaluator
  ) throws -> Graph {
    try graph(shapes: shapes, computed: computed, values: [:], evaluator: evaluator)
  }

  func graph(
    shapes: [String: Shape], computed: [String: TensorType], values: [String: Tensor], evaluator: any ConstantEvaluator
  ) throws -> Graph {
    try checkOperations()
    let features = inputs.filter { values[$0.name] == nil }
    let types = try resolveInputTypes(features, given: shapes, computed: computed, file: file)
    let scope = MILScope(Emitter(evaluator: evaluator), function, files)
    do {
      for (name, tensor) in values.sorted(by: { $0.key < $1.key }) {
        try scope.define(name, scope.emitter.constant(named: name, Weight(tensor)), by: "function")
      }
      for (name, type) in computed.sorted(by: { $0.key < $1.key }) {
        try scope.define(name, try scope.emitter.input(name, type), by: "function")
      }
      for input in function.inputs where values[input.name] == nil && computed[input.name] == nil {
        guard let type = input.type.tensorType ?? types[input.name] else { continue }
        if input.type.isState {
          try scope.defineState(input.name, type)
          continue
        }
        try scope.define(input.name, try scope.emitter.input(input.name, type), by: "function")
      }
    } catch let error as GraphError {
      throw FormatError(.malformed, file: file, place: error.place, error.reason)
    }
    try emit(scope)
    do {
      scope.emitter.outputs(try outputs.map { try scope.value($0, reader: "output '\($0)'") })
      return try scope.emitter.finish()
    } catch let error as GraphError {
      throw FormatError(.malformed, file: file, place: error.place, error.reason)
    }
  }

  /// Emits the function's operations; its inputs are defined already.
  func emit(_ scope: MILScope) throws {
    try emit(function.block, scope)
  }

  /// Emits the operations of a block.
  func emit(_ block: MILBlock, _ scope: MILScope) throws {
    for operation in block.operations {
      do { try add(operation, scope) } catch let error as GraphError {
        throw FormatError(
          .malformed, file: file, place: error.place, offset: operation.offset,
          "\(error.reason) [operation \(operation.index)]")
      }
    }
  }

  private func add(_ operation: MILOperation, _ scope: MILScope) throws {
    if operation.kind == "const" {
      guard let output = operation.outputs.first, let value = operation.attributes["val"] else {
        throw GraphError("const '\(operation.name)'", "has no value")
      }
      return try scope.define(output.name, constant: value)
    }
    if operation.kind == "classify" { return }
    let kind = "\(function.prefix).\(operation.kind)"
    scope.emitter.begin(
      Origin(name: operation.name, kind: kind, index: operation.index), outputNames: operation.outputs.map(\.name))
    if let encoder = MILConstexpr.byName[operation.kind] { return try add(encoder, operation, scope) }
    let control = MILControl.byName[operation.kind]
    guard control != nil || MILMapper.byName[operation.kind] != nil else { return }
    let context = MILContext(operation: operation, scope: scope)
    let results = try control?.map(context, self) ?? MILMapper.byName[operation.kind]?.map(context) ?? []
    for (output, result) in zip(operation.outputs, results) {
      let type = scope.emitter.type(result)
      if let declared = output.type.tensorType, declared != type {
        throw scope.emitter.invalid("output '\(output.name)' is declared \(declared), but has the value \(type)")
      }
      try scope.define(output.name, result, by: "\(kind) '\(operation.name)'")
    }
  }

  private func add(_ encoder: MILConstexpr, _ operation: MILOperation, _ scope: MILScope) throws {
    let weights: [Weight]
    do { weights = try encoder.map(MILContext(operation: operation, scope: scope)) } catch let error as GraphError {
      let place = scope.emitter.invalid("").place
      throw error.place == place ? error : GraphError(place, "\(error.place): \(error.reason)")
    }
    for (output, weight) in zip(operation.outputs, weights) {
      if let declared = output.type.tensorType, declared != weight.type {
        throw scope.emitter.invalid("output '\(output.name)' is declared \(declared), but has the value \(weight.type)")
      }
      try scope.define(output.name, weight: weight)
    }
  }

  /// Throws an error that lists every operation without a mapper, including those in nested blocks.
  func checkOperations() throws(FormatError) {
    var missing = MissingOperations()
    findMissing(&missing)
    guard missing.list.isEmpty else { throw .missing(missing.list, file: file) }
  }

  func findMissing(_ missing: inout MissingOperations) { findMissing(in: function.block, &missing) }

  /// Collects the unsupported operations of a block and its nested blocks. The blocks of a branch are skipped: a side
  /// that is not taken may have unsupported operations.
  func findMissing(in block: MILBlock, _ missing: inout MissingOperations) {
    var pending = block.operations[...]
    while let operation = pending.popFirst() {
      if operation.kind != "const", operation.kind != "classify", MILMapper.byName[operation.kind] == nil,
        MILConstexpr.byName[operation.kind] == nil, MILControl.byName[operation.kind] == nil
      {
        missing.add("\(function.prefix).\(operation.kind)", at: operation.name)
      }
      if operation.kind == MILControl.branch.name { continue }
      for block in operation.blocks { pending += block.operations }
    }
  }
}

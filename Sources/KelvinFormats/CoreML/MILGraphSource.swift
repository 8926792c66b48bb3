import KelvinGraph

/// Builds graphs from a function of an ML Program.
struct MILGraphSource: GraphSource {
  let function: MILFunction
  let inputs: [Feature]
  /// The values that become the graph's outputs, in order.
  let outputs: [String]
  let classifier: Classifier?
  let file: String
  let files: WeightFiles

  func graph(shapes: [String: Shape], evaluator: any ConstantEvaluator) throws -> Graph {
    try checkOperations()
    let types = try resolveInputTypes(inputs, given: shapes, file: file)
    let scope = MILScope(Emitter(evaluator: evaluator), function, files)
    do {
      for input in function.inputs {
        guard let type = input.type.tensorType ?? types[input.name] else { continue }
        try scope.define(input.name, try scope.emitter.input(input.name, type), by: "function")
      }
    } catch let error as GraphError {
      throw FormatError(.malformed, file: file, place: error.place, error.reason)
    }
    try emit(scope)
    do {
      for (index, name) in outputs.enumerated() {
        let id = try scope.value(name, reader: "output '\(name)'")
        if let classifier, classifier.graphOutput == index, scope.emitter.shape(id).count != classifier.labels.count {
          throw GraphError(
            "output '\(name)'", "has \(scope.emitter.shape(id).count) elements for \(classifier.labels.count) labels")
        }
        scope.emitter.output(id)
      }
      return try scope.emitter.finish()
    } catch let error as GraphError {
      throw FormatError(.malformed, file: file, place: error.place, error.reason)
    }
  }

  /// Writes the function's operations; its inputs are defined.
  func emit(_ scope: MILScope) throws {
    for operation in function.block.operations {
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
    guard let mapper = MILMapper.byName[operation.kind] else { return }
    let results = try mapper.map(operation, scope)
    for (output, result) in zip(operation.outputs, results) {
      let type = scope.emitter.type(result)
      if let declared = output.type.tensorType, declared != type {
        throw scope.emitter.invalid("output '\(output.name)' is declared \(declared), it computes \(type)")
      }
      try scope.define(output.name, result, by: "\(kind) '\(operation.name)'")
    }
  }

  private func add(_ encoder: MILConstexpr, _ operation: MILOperation, _ scope: MILScope) throws {
    let weights: [Weight]
    do { weights = try encoder.weights(operation, scope) } catch let error as GraphError {
      let place = scope.emitter.invalid("").place
      throw error.place == place ? error : GraphError(place, "\(error.place): \(error.reason)")
    }
    for (output, weight) in zip(operation.outputs, weights) {
      if let declared = output.type.tensorType, declared != weight.type {
        throw scope.emitter.invalid("output '\(output.name)' is declared \(declared), it computes \(weight.type)")
      }
      try scope.define(output.name, weight: weight)
    }
  }

  /// Lists everything that has no mapper, in nested blocks too.
  private func checkOperations() throws(FormatError) {
    var missing = MissingOperations()
    findMissing(&missing)
    guard missing.list.isEmpty else { throw .missing(missing.list, file: file) }
  }

  func findMissing(_ missing: inout MissingOperations) {
    var pending = function.block.operations[...]
    while let operation = pending.popFirst() {
      if operation.kind != "const", operation.kind != "classify", MILMapper.byName[operation.kind] == nil,
        MILConstexpr.byName[operation.kind] == nil
      {
        missing.add("\(function.prefix).\(operation.kind)", at: operation.name)
      }
      for block in operation.blocks { pending += block.operations }
    }
  }
}

/// The values of a function while its graph is built. A constant becomes a graph value when a node first reads it.
final class MILScope {
  let emitter: Emitter
  /// The version of iOS whose operator set the function is written in; operations have changed between them.
  let version: Int
  private let files: WeightFiles
  private var values: [String: ValueID] = [:]
  private var constants: [String: MILValue] = [:]
  private var weights: [String: Weight] = [:]

  init(_ emitter: Emitter, _ function: MILFunction, _ files: WeightFiles) {
    self.emitter = emitter
    version = function.version ?? 0
    self.files = files
  }

  func define(_ name: String, _ id: ValueID, by place: String) throws {
    guard constants[name] == nil, weights[name] == nil, values.updateValue(id, forKey: name) == nil else {
      throw GraphError(place, "computes '\(name)', which is there already")
    }
  }

  func define(_ name: String, constant: MILValue) throws {
    guard values[name] == nil, weights[name] == nil, constants.updateValue(constant, forKey: name) == nil else {
      throw GraphError("const '\(name)'", "the name is used twice")
    }
  }

  func define(_ name: String, weight: Weight) throws {
    guard values[name] == nil, constants[name] == nil, weights.updateValue(weight, forKey: name) == nil else {
      throw GraphError("const '\(name)'", "the name is used twice")
    }
  }

  func value(_ name: String, reader: String) throws -> ValueID {
    if let id = values[name] { return id }
    guard let weight = try constants[name]?.weight(files, name: name) ?? weights[name] else {
      throw GraphError(reader, "reads '\(name)', which nothing before it computes")
    }
    let id = emitter.constant(named: name, weight)
    values[name] = id
    return id
  }

  func value(_ binding: MILOperation.Binding, _ operation: MILOperation, _ input: String) throws -> ValueID {
    switch binding {
    case .name(let name): return try value(name, reader: "\(operation.kind) '\(operation.name)'")
    case .value(let value):
      let name = "\(operation.name)/\(input)"
      return emitter.constant(named: name, try value.weight(files, name: name))
    }
  }

  /// The constant behind a binding, where the program holds one.
  private func constant(_ binding: MILOperation.Binding) -> MILValue? {
    switch binding {
    case .name(let name): constants[name]
    case .value(let value): value
    }
  }

  /// The weight behind a binding; nil where it depends on the model's inputs.
  func weight(_ binding: MILOperation.Binding, _ input: String) throws -> Weight? {
    if let constant = constant(binding) { return try constant.weight(files, name: input) }
    guard let name = binding.name else { return nil }
    return weights[name] ?? values[name].flatMap { emitter.weight($0) }
  }

  func text(_ binding: MILOperation.Binding) throws -> String? { try constant(binding)?.strings().first }

  /// The elements of a constant, or of a value that is known while building; nil where it depends on inputs.
  ///
  /// - Throws: where it has more than `limit` elements.
  func tensor(_ binding: MILOperation.Binding, _ input: String, atMost limit: Int) throws -> Tensor? {
    func check(_ type: TensorType?) throws {
      guard let type, type.count > limit else { return }
      throw emitter.invalid("'\(input)' has \(type.count) elements, expected at most \(limit)")
    }
    if let constant = constant(binding) {
      try check(constant.type.tensorType)
      return try constant.tensor(files, name: input)
    }
    guard let name = binding.name, let weight = weights[name] ?? values[name].flatMap({ emitter.weight($0) }) else {
      return nil
    }
    try check(weight.type)
    return weight.dense()
  }
}

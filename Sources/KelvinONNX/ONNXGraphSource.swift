import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// Builds graphs from an ONNX model.
struct ONNXGraphSource: GraphSource {
  let model: ONNXModel
  /// The model's nodes that belong to the graph, in order.
  let nodes: [ONNXNode]
  /// The features that the graph reads.
  let inputs: [Feature]
  /// The sequences and optional values that the graph reads.
  let lists: [String]
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
    do {
      return try written(shapes: shapes, computed: computed, values: values, evaluator: evaluator)
    } catch {
      let given = Set(shapes.keys).union(computed.keys).union(values.keys)
      func graph(zeros size: Int) throws -> Graph? {
        guard let open = openShapes(besides: given, zeros: size) else { return nil }
        return try written(
          shapes: shapes.merging(open) { given, _ in given }, computed: computed, values: values, evaluator: evaluator)
      }
      if (try? graph(zeros: 1)) == nil, let graph = try? graph(zeros: 0), fits(graph) { return graph }
      throw error
    }
  }

  private func written(
    shapes: [String: Shape], computed: [String: TensorType], values: [String: Tensor], evaluator: any ConstantEvaluator
  ) throws -> Graph {
    try checkOperators()
    let features = inputs.filter { values[$0.name] == nil }
    let types = try resolveInputTypes(features, given: shapes, computed: computed, file: file)
      .merging(computed) { _, type in type }
    let parts = Set(lists.map(model.listSlots).flatMap { [$0.elements, $0.layout] })
    let emitter = Emitter(evaluator: evaluator)
    let scope = ONNXScope(emitter, model, file: file, files: files)
    do {
      let given = inputs.map(\.name)
      let names = given + Set(computed.keys).subtracting(given).subtracting(parts).sorted()
      for name in names {
        if let type = types[name] { try scope.define(name, try emitter.input(name, type), by: "input") }
      }
      for name in lists { try defineList(name, computed, values, scope) }
      for (name, tensor) in values.sorted(by: { $0.key < $1.key }) where !parts.contains(name) {
        try scope.define(name, emitter.constant(named: name, Weight(tensor)), by: "input")
      }
    } catch let error as GraphError {
      throw FormatError(.malformed, file: file, place: error.place, error.reason)
    }
    for node in nodes {
      do {
        try add(node, scope)
      } catch let error as GraphError {
        throw FormatError(
          .malformed, file: file, place: error.place, offset: node.offset, "\(error.reason) [operation \(node.index)]")
      }
    }
    let offsets = Dictionary(model.graph.outputs.map { ($0.name, $0.offset) }) { first, _ in first }
    var results: [ValueID] = []
    for name in outputs {
      let (reader, offset) = ("output '\(name)'", offsets[name] ?? 0)
      if model.listNames.contains(name) {
        results += try listOutput(name, try scope.entity(name, reader: reader, offset: offset), emitter)
      } else {
        results.append(try scope.value(name, reader: reader, offset: offset))
      }
    }
    emitter.outputs(results)
    do { return try emitter.finish() } catch let error as GraphError {
      throw FormatError(.malformed, file: file, place: error.place, error.reason)
    }
  }

  /// Emits a node.
  func add(_ node: ONNXNode, _ scope: ONNXScope) throws {
    let kind = node.qualifiedKind
    let (sequence, control, mapper) = (ONNXSequence.byName[kind], ONNXControl.byName[kind], ONNXMapper.byName[kind])
    guard sequence != nil || control != nil || mapper != nil else { return }
    let place = "\(node.kind) '\(node.name)'"
    var entities: [ONNXEntity?] = []
    for name in node.inputs {
      let entity = name.isEmpty ? nil : try scope.entity(name, reader: place, offset: node.offset)
      if case .tensor(let id)? = entity, scope.emitter.depth == 0, scope.emitter.extents[id] != nil {
        throw scope.emitter.invalid("reads '\(name)' before its size is known")
      }
      entities.append(entity)
    }
    let operands = try zip(node.inputs, entities).map { name, entity -> ValueID? in
      if case .tensor(let id)? = entity { return id }
      if entity == nil || sequence != nil || control != nil { return nil }
      return try scope.value(name, reader: place, offset: node.offset)
    }
    scope.emitter.begin(Origin(name: node.name, kind: node.kind, index: node.index), outputNames: node.outputs)
    let operation = ONNXOperation(
      node: node, opset: model.opset, inputs: operands, entities: entities,
      lowPrecisionTypes: node.inputs.map(scope.lowPrecisionType),
      valueDependentInputs: sequence?.valueDependentInputs ?? control?.valueDependentInputs(node) ?? mapper?
        .valueDependentInputs ?? [],
      emitter: scope.emitter, file: file, files: files)
    let results: [ONNXEntity] =
      if let sequence {
        [try sequence.map(operation)]
      } else if let control {
        try control.map(operation, self, scope)
      } else {
        try mapper?.map(operation).map { .tensor($0) } ?? []
      }
    for (name, result) in zip(node.outputs, results) where !name.isEmpty {
      try scope.define(name, result, by: place)
    }
  }

  /// Throws an error that lists every operator without a mapper. Branches are skipped: a side that is not taken may
  /// have unsupported operators.
  private func checkOperators() throws(FormatError) {
    let missing = try Self.missing(in: nodes)
    guard missing.list.isEmpty else { throw .missing(missing.list, file: file) }
  }

  /// Returns the unsupported operators of the nodes.
  static func missing(in nodes: [ONNXNode]) throws(FormatError) -> MissingOperations {
    var missing = MissingOperations()
    var pending = nodes[...]
    while let node = pending.popFirst() {
      let kind = node.qualifiedKind
      if !node.isKnown { missing.add(kind, at: node.name) }
      if kind == ONNXControl.branch.name { continue }
      for attribute in node.attributes.values { pending += try attribute.subgraphs().flatMap(\.nodes) }
    }
    return missing
  }
}

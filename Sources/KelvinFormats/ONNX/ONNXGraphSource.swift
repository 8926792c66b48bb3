import KelvinGraph

/// Builds graphs from an ONNX model.
struct ONNXGraphSource: GraphSource {
  let model: ONNXModel
  let inputs: [Feature]
  let classifier: Classifier?
  let file: String
  let files: WeightFiles

  func graph(shapes: [String: Shape], evaluator: any ConstantEvaluator) throws -> Graph {
    try checkOperators()
    let types = try resolveInputTypes(inputs, given: shapes, file: file)
    var emitter = Emitter(evaluator: evaluator)
    var values: [String: ValueID] = [:]
    do {
      for feature in inputs {
        if let type = types[feature.name] { values[feature.name] = try emitter.input(feature.name, type) }
      }
    } catch let error as GraphError {
      throw FormatError(.malformed, file: file, place: error.place, error.reason)
    }
    for node in model.graph.nodes {
      do {
        try add(node, depth: 0, &emitter, &values)
      } catch let error as GraphError {
        throw FormatError(
          .malformed, file: file, place: error.place, offset: node.offset, "\(error.reason) [operation \(node.index)]")
      }
    }
    for (index, output) in model.graph.outputs.enumerated() {
      let id = try value(output.name, &emitter, &values, reader: "output '\(output.name)'", offset: output.offset)
      if let classifier, classifier.graphOutput == index, emitter.shape(id).count % classifier.labels.count != 0 {
        throw FormatError(
          .malformed, file: file, place: "output '\(output.name)'",
          "it has \(emitter.shape(id).count) elements for \(classifier.labels.count) labels")
      }
      emitter.output(id)
    }
    do { return try emitter.finish() } catch let error as GraphError {
      throw FormatError(.malformed, file: file, place: error.place, error.reason)
    }
  }

  /// Writes a node, `depth` branches deep.
  func add(
    _ node: ONNXNode, depth: Int, _ emitter: inout Emitter, _ values: inout [String: ValueID]
  ) throws {
    if node.qualifiedKind == "If" { return try addBranch(of: node, depth: depth, &emitter, &values) }
    guard let mapper = ONNXMapper.byName[node.qualifiedKind] else { return }
    var operands: [ValueID?] = []
    for name in node.inputs {
      operands.append(
        name.isEmpty
          ? nil
          : try value(name, &emitter, &values, reader: "\(node.kind) '\(node.name)'", offset: node.offset))
    }
    emitter.begin(Origin(name: node.name, kind: node.kind, index: node.index), outputNames: node.outputs)
    let operation = ONNXOperation(
      node: node, opset: model.opset, inputs: operands, emitter: emitter, file: file, files: files)
    try define(node, try mapper.map(operation), &values)
  }

  /// Names a node's results.
  func define(_ node: ONNXNode, _ results: [ValueID], _ values: inout [String: ValueID]) throws {
    for (name, result) in zip(node.outputs, results) where !name.isEmpty {
      guard model.graph.initializers[name] == nil, values.updateValue(result, forKey: name) == nil else {
        throw GraphError("\(node.kind) '\(node.name)'", "computes '\(name)', which is there already")
      }
    }
  }

  /// The value of a name, which becomes a constant the first time an initialiser is read.
  func value(
    _ name: String, _ emitter: inout Emitter, _ values: inout [String: ValueID], reader: String, offset: Int
  ) throws(FormatError) -> ValueID {
    if let id = values[name] { return id }
    guard let initializer = model.graph.initializers[name] else {
      let isSparse = model.graph.sparse.contains(name)
      throw FormatError(
        isSparse ? .unsupported : .malformed, file: file, place: reader, offset: offset,
        isSparse ? "reads the sparse initialiser '\(name)'" : "reads '\(name)', which nothing before it computes")
    }
    let id = emitter.constant(named: name, Weight(try initializer.read(files)))
    values[name] = id
    return id
  }

  /// Lists everything that has no mapper, in sub-graphs too.
  private func checkOperators() throws(FormatError) {
    var missing = MissingOperations()
    var pending = model.graph.nodes[...]
    while let node = pending.popFirst() {
      if node.qualifiedKind != "If", ONNXMapper.byName[node.qualifiedKind] == nil {
        missing.add(node.qualifiedKind, at: node.name)
      }
      for graph in node.attributes.values.flatMap(\.graphs) { pending += try ONNXGraph(graph).nodes }
    }
    guard missing.list.isEmpty else { throw .missing(missing.list, file: file) }
  }
}

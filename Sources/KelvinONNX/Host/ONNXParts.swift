import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// The parts of an ONNX model: graphs, split at operators on strings, dictionaries or lists.
struct ONNXParts {
  let model: ONNXModel
  let features: ONNXFeatures
  let file: String
  let files: ModelFiles

  init(_ model: ONNXModel, _ features: ONNXFeatures, file: String, files: ModelFiles) {
    self.model = model
    self.features = features
    self.file = file
    self.files = files
  }

  /// Returns the parts of the model.
  ///
  /// - Throws: `FormatError`, which lists unsupported operators on strings, dictionaries or lists.
  func parts() throws(FormatError) -> [FunctionPart] {
    let given = features.inputs.compactMap { feature -> FunctionPart? in
      guard model.listNames.contains(feature.name), let scalar = feature.type.scalar else { return nil }
      return .host(SequenceParts(of: feature.name, scalar, mark: model.mark))
    }
    let results = features.outputs.filter { model.listNames.contains($0.name) }.map { feature in
      FunctionPart.host(SequenceOfParts(feature.name, mark: model.mark))
    }
    return given + (try sortedParts()) + results
  }

  /// Returns the parts in topological order, with indices in place of strings that graphs move.
  private func sortedParts() throws(FormatError) -> [FunctionPart] {
    let moved = try ONNXMovedStrings(self)
    var model = model
    model.graph.initializers.merge(moved.initializers) { own, _ in own }
    model.listNames.formUnion(moved.listNames)
    return try ONNXParts(model, features, file: file, files: files).sorted(moved.items)
  }

  private func sorted(_ items: [ONNXMovedStrings.Item]) throws(FormatError) -> [FunctionPart] {
    let names = model.graph.outputs.map(\.name)
    guard items.contains(where: { $0.steps != nil }) else {
      // A graph does not hold strings: nodes that read strings are refused before.
      let given = features.inputs.filter { !$0.type.isHostKind }
      return try graphs(GraphPart.onlyName, items.map(\.node), given.map(\.name), names)
    }
    var ordered: [PartOrder.Item] = []
    for item in items {
      let reads: [String]
      if let steps = item.steps {
        reads = steps.flatMap(\.inputs)
      } else {
        reads = try item.node.staged().uses.map(\.name)
      }
      ordered.append(PartOrder.Item(isHost: item.steps != nil, reads: reads, writes: item.node.outputs))
    }
    let order = PartOrder(ordered)
    let graphs = order.groups.count { !$0.isHost }
    // The groups that read each value, in order; the model's outputs are in the last one.
    var readers: [String: [(group: Int, place: Int)]] = [:]
    var place = 0
    func read(_ names: [String], in group: Int) {
      for name in names {
        readers[name, default: []].append((group, place))
        place += 1
      }
    }
    for (index, group) in order.groups.enumerated() { for item in group.items { read(ordered[item].reads, in: index) } }
    read(names, in: order.groups.count)
    // Sub-graphs have names of their own.
    let slots = Set(features.inputs.map(\.name) + items.flatMap(\.node.outputs)).subtracting([""])
    var parts: [FunctionPart] = []
    for (index, group) in order.groups.enumerated() {
      guard !group.isHost else {
        parts += group.items.flatMap { items[$0].steps ?? [] }.map { .host($0) }
        continue
      }
      let nodes = group.items.map { items[$0].node }
      let written = Set(nodes.flatMap(\.outputs))
      let later = written.compactMap { name in readers[name]?.first { $0.group > index }.map { (name, $0.place) } }
        .sorted { $0.1 < $1.1 }.map(\.0)
      let left = (names.filter(written.contains) + later).withoutRepetition
      let read = group.items.flatMap { ordered[$0].reads }.filter { slots.contains($0) && !written.contains($0) }
        .withoutRepetition
      let count = parts.count { if case .graph = $0 { true } else { false } }
      let name = graphs == 1 ? GraphPart.onlyName : "\(GraphPart.onlyName)\(count + 1)"
      parts += try self.graphs(name, nodes, read, left)
    }
    return parts
  }

  /// Returns the graph of some nodes. If sizes depend on data, it is several consecutive graphs, with control flow that
  /// the host executes between them.
  func graphs(
    _ name: String, _ nodes: [ONNXNode], _ inputs: [String], _ outputs: [String]
  ) throws(FormatError) -> [FunctionPart] {
    let constants = Set(model.graph.initializers.keys)
    var staged: [StagedOperation] = []
    for node in nodes { staged.append(try node.staged()) }
    let stages = SizeStages.stages(of: staged, inputs: inputs, constants: constants, outputs: outputs)
    var parts: [FunctionPart] = []
    for (index, stage) in stages.enumerated() {
      let name = stages.count == 1 ? name : "\(name).\(index + 1)"
      let own = stage.operations.map { nodes[$0] }
      guard let hostOperation = stage.hostOperation.map({ nodes[$0] }) else {
        parts.append(.graph(graph(name, own, stage.inputs, stage.outputs, valueDependent: stage.valueDependent)))
        continue
      }
      if let loop = try ONNXHostLoop(hostOperation) { parts += try self.parts(of: loop, name, own, stage.inputs) }
      if let branch = try ONNXHostBranch(hostOperation) { parts += try self.parts(of: branch, name, own, stage.inputs) }
    }
    return parts
  }

  /// Returns the graph of the known inputs of a node that the host executes; empty if other parts compute all inputs.
  ///
  /// - Parameters:
  ///   - known: The nodes that compute the known inputs.
  ///   - computed: The inputs of the node and of these nodes that other parts compute.
  func start(
    of node: ONNXNode, _ name: String, _ known: [ONNXNode], _ computed: [String]
  ) throws(FormatError) -> [FunctionPart] {
    let made = node.inputs.filter { !$0.isEmpty && !computed.contains($0) }.withoutRepetition
    guard !made.isEmpty else { return [] }
    return [.graph(graph("\(name).start", known, try read(by: known, of: computed), made))]
  }

  /// Returns those of some values that nodes or their sub-graphs read.
  func read(by nodes: [ONNXNode], of names: [String]) throws(FormatError) -> [String] {
    var used: Set<String> = []
    for node in nodes { used.formUnion(try node.staged().uses.map(\.name)) }
    return names.filter(used.contains)
  }

  /// Returns the parts of a sub-graph, which may read values of the graph around it.
  ///
  /// - Parameters:
  ///   - lowPrecisionTypes: The low-precision types of its values.
  ///   - lists: The values that are sequences or optional.
  func inside(_ body: ONNXGraph, _ lowPrecisionTypes: [String: ONNXLowPrecisionType], _ lists: Set<String>) -> ONNXParts
  {
    var model = model
    let own = Set(body.inputs.map(\.name)).union(body.nodes.flatMap(\.outputs))
    model.graph.initializers = model.graph.initializers.filter { !own.contains($0.key) }
      .merging(body.initializers) { _, inner in inner }
    model.graph.outputs = body.outputs
    model.lowPrecisionTypes = model.lowPrecisionTypes.filter { !own.contains($0.key) }.merging(lowPrecisionTypes) {
      _, inner in inner
    }
    model.listNames = model.listNames.subtracting(own).union(lists)
    return ONNXParts(model, features, file: file, files: files)
  }

  func lowPrecisionType(_ name: String) -> ONNXLowPrecisionType? { model.lowPrecisionTypes[name] }

  func graph(
    _ name: String, _ nodes: [ONNXNode], _ inputs: [String], _ outputs: [String], valueDependent: Set<String> = []
  ) -> GraphPart {
    let lists = inputs.filter(model.listNames.contains)
    let source = ONNXGraphSource(
      model: model, nodes: nodes,
      inputs: features.inputs.filter { inputs.contains($0.name) && !model.listNames.contains($0.name) }, lists: lists,
      outputs: outputs, file: file, files: files)
    return GraphPart(
      name: name, inputs: slots(of: inputs), outputs: slots(of: outputs),
      valueDependent: valueDependent.subtracting(lists).union(lists.map { model.listSlots($0).layout }), source: source)
  }

  /// Returns the slots of values; a sequence has two.
  func slots(of names: [String]) -> [String] {
    names.flatMap { name in
      guard model.listNames.contains(name) else { return [name] }
      let slots = model.listSlots(name)
      return [slots.elements, slots.layout]
    }
  }
}

extension ONNXModel {
  /// Returns the slots in which graphs hold a sequence or an optional value.
  func listSlots(_ name: String) -> (elements: String, layout: String) { SequenceLayout.slots(of: name, mark: mark) }
}

extension FeatureKind {
  /// The element type of a tensor, or of a sequence of tensors.
  fileprivate var scalar: ScalarType? {
    switch self {
    case .tensor(let scalar, _), .tensors(let scalar): scalar
    default: nil
    }
  }
}

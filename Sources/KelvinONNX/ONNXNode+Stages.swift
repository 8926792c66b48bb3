import KelvinGraph
import KelvinImport

extension ONNXNode {
  /// The name of control flow in requests to execute it on the host. It is built from the kind and the file offset,
  /// because names change during rewriting, and nodes of a function occur once per call.
  var flowName: String { "\(kind) at byte \(offset)" }

  /// Returns the inputs of the node and how it uses them, sub-graphs included.
  ///
  /// - Parameter depth: The number of sub-graphs around the node.
  func staged(depth: Int = 0) throws(FormatError) -> StagedOperation {
    let (mapper, control) = (ONNXMapper.byName[qualifiedKind], ONNXControl.byName[qualifiedKind])
    let sequence = ONNXSequence.byName[qualifiedKind]
    return StagedOperation(
      uses: try uses(depth: 0), outputs: outputs,
      readsOnlyShapes: mapper?.readsOnlyShapes ?? sequence?.readsOnlyShapes ?? false,
      hasDataDependentShape: mapper?.hasDataDependentShape ?? control?.hasDataDependentShape(self) ?? false,
      controlFlow: try controlFlow(depth: depth))
  }

  private func controlFlow(depth: Int) throws(FormatError) -> StagedControlFlow? {
    let own = depth + (carriesLists ? StagedControlFlow.repeatedDepth : 1)
    if own <= StagedControlFlow.depthLimit, let loop = try ONNXHostLoop(self) {
      var body = try loop.body.staged(depth: own)
      body.constants.formUnion([loop.truth].compactMap { $0 })
      let joins = ONNXJoins(loop.body)
      let isOpen = accumulatesWithoutLimit || loop.carried.contains { joins.join($0.given, into: $0.left) }
      return .loop(
        StagedLoop(
          body: body, given: loop.given, carried: loop.carried, goesOn: loop.goesOn,
          grows: !carriesLists && (isOpen || mustRunOnHost), isUnrolled: carriesLists))
    }
    if depth < StagedControlFlow.depthLimit, let branch = try ONNXHostBranch(self) {
      let sides = [
        try branch.then.staged(depth: depth + 1), try branch.otherwise.staged(depth: depth + 1),
      ]
      return .branch(StagedBranch(condition: inputs[0], sides: sides, differs: branch.differs || mustRunOnHost))
    }
    return nil
  }

  fileprivate func uses(depth: Int) throws(FormatError) -> [StagedUse] {
    let kind = qualifiedKind
    let valueDependent =
      ONNXMapper.byName[kind]?.valueDependentInputs ?? ONNXSequence.byName[kind]?.valueDependentInputs
      ?? ONNXControl.byName[kind]?.valueDependentInputs(self) ?? []
    var uses: [StagedUse] = []
    for (index, name) in inputs.enumerated() where !name.isEmpty {
      uses.append(StagedUse(name: name, needsValue: valueDependent.contains(index)))
    }
    // Deeper sub-graphs are refused when they are emitted.
    guard depth < StagedControlFlow.depthLimit else { return uses }
    for attribute in attributes.values {
      for graph in try attribute.subgraphs() { uses += try graph.uses(depth: depth) }
    }
    return uses
  }
}

extension ONNXGraph {
  /// Marks branches and loops with the given `flowName`s for host execution, in sub-graphs too.
  mutating func runOnHost(_ names: Set<String>, depth: Int = 0) throws(FormatError) {
    for index in nodes.indices where nodes[index].attributes.values.contains(where: \.hasGraphs) {
      nodes[index].mustRunOnHost = names.containsControlFlow(nodes[index].flowName)
      guard depth < StagedControlFlow.depthLimit else { continue }
      for (key, attribute) in nodes[index].attributes where attribute.hasGraphs {
        guard var inner = try attribute.subgraphs().first else { continue }
        try inner.runOnHost(names, depth: depth + 1)
        nodes[index].attributes[key]?.rewritten = inner
      }
    }
  }

  /// Removes from sub-graphs the nodes that no output depends on. Unsupported nodes stay, and are refused.
  mutating func dropUnused(depth: Int = 0) throws(FormatError) {
    guard depth < StagedControlFlow.depthLimit else { return }
    for index in nodes.indices {
      for (key, attribute) in nodes[index].attributes where attribute.hasGraphs {
        guard var inner = try attribute.subgraphs().first else { continue }
        try inner.dropUnused(depth: depth + 1)
        try inner.dropUnusedNodes()
        nodes[index].attributes[key]?.rewritten = inner
      }
    }
  }

  private mutating func dropUnusedNodes() throws(FormatError) {
    var read = Set(outputs.map(\.name))
    var kept: [ONNXNode] = []
    // Nodes follow the nodes that they read.
    for node in nodes.reversed() where !node.isKnown || node.outputs.contains(where: read.contains) {
      read.formUnion(try node.uses(depth: 0).map(\.name))
      kept.append(node)
    }
    if kept.count < nodes.count { nodes = kept.reversed() }
  }

  /// Returns the operations of a sub-graph.
  ///
  /// - Parameter depth: The number of sub-graphs around its nodes.
  fileprivate func staged(depth: Int) throws(FormatError) -> StagedBlock {
    var operations: [StagedOperation] = []
    for node in nodes { operations.append(try node.staged(depth: depth)) }
    return StagedBlock(operations: operations, constants: Set(initializers.keys), outputs: outputs.map(\.name))
  }

  /// Returns the outer values that the sub-graph reads, and how.
  fileprivate func uses(depth: Int) throws(FormatError) -> [StagedUse] {
    var uses: [StagedUse] = []
    var own = Set(inputs.map(\.name)).union(initializers.keys)
    for inner in nodes {
      uses += try inner.uses(depth: depth + 1).filter { !own.contains($0.name) }
      own.formUnion(inner.outputs)
    }
    return uses + outputs.filter { !own.contains($0.name) }.map { StagedUse(name: $0.name, needsValue: false) }
  }
}

/// The concatenations in a graph.
private struct ONNXJoins {
  private let nodes: [ONNXNode]
  /// By value, the index of the first node that computes it.
  private let makers: [String: Int]

  init(_ graph: ONNXGraph) {
    nodes = graph.nodes
    makers = Dictionary(
      graph.nodes.enumerated().flatMap { place, node in node.outputs.map { ($0, place) } }
    ) { first, _ in first }
  }

  /// Whether a value is a concatenation that includes another value.
  func join(_ given: String, into left: String) -> Bool {
    guard let joined = maker(left).node, joined.qualifiedKind == "Concat" else { return false }
    return joined.inputs.contains { maker($0).name == given }
  }

  /// Returns the node that computes a value, before any nodes that keep its size.
  private func maker(_ name: String) -> (name: String, node: ONNXNode?) {
    var name = name
    // Nodes follow the nodes that they read, so that the chain ends; the limit guards against files that break the
    // rule.
    for _ in 0...nodes.count {
      guard let place = makers[name], ["Identity", "Cast"].contains(nodes[place].qualifiedKind),
        let source = nodes[place].inputs.first
      else { break }
      name = source
    }
    return (name, makers[name].map { nodes[$0] })
  }
}

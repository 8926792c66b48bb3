import KelvinImport

extension ONNXNode {
  /// By what it is known where it has to be walked. Names change on the way, and nodes of a function are there for each
  /// call.
  var flowName: String { "\(kind) at byte \(offset)" }

  /// What it reads and how, sub-graphs included.
  ///
  /// - Parameter depth: in how many sub-graphs it lies.
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
          body: body, given: loop.given,
          carried: loop.carried.map { StagedLoop.Carried(start: $0.start, given: $0.given, left: $0.left) },
          goesOn: loop.goesOn, grows: !carriesLists && (isOpen || mustRunOnHost), isUnrolled: carriesLists))
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
    // Deeper ones are refused when they are written.
    guard depth < StagedControlFlow.depthLimit else { return uses }
    for attribute in attributes.values {
      for graph in try attribute.subgraphs() { uses += try graph.uses(depth: depth) }
    }
    return uses
  }
}

extension ONNXGraph {
  /// Says of branches and loops with such `flowName`s that they are walked, in sub-graphs too.
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

  /// Leaves out of sub-graphs what none of their outputs depends on. What Kelvin lacks stays, and is refused.
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
    // Nodes follow what they read.
    for node in nodes.reversed() where !node.isKnown || node.outputs.contains(where: read.contains) {
      read.formUnion(try node.uses(depth: 0).map(\.name))
      kept.append(node)
    }
    if kept.count < nodes.count { nodes = kept.reversed() }
  }

  /// - Parameter depth: in how many sub-graphs its nodes lie.
  fileprivate func staged(depth: Int) throws(FormatError) -> StagedBlock {
    var operations: [StagedOperation] = []
    for node in nodes { operations.append(try node.staged(depth: depth)) }
    return StagedBlock(operations: operations, constants: Set(initializers.keys), outputs: outputs.map(\.name))
  }

  /// What it reads of the values around it, and how.
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

/// Where a graph joins values.
private struct ONNXJoins {
  private let nodes: [ONNXNode]
  /// By value, the first node that makes it.
  private let makers: [String: Int]

  init(_ graph: ONNXGraph) {
    nodes = graph.nodes
    makers = Dictionary(
      graph.nodes.enumerated().flatMap { place, node in node.outputs.map { ($0, place) } }
    ) { first, _ in first }
  }

  /// Whether a value is another one, joined with something else.
  func join(_ given: String, into left: String) -> Bool {
    guard let joined = maker(left).node, joined.qualifiedKind == "Concat" else { return false }
    return joined.inputs.contains { maker($0).name == given }
  }

  /// The node behind those that change no size.
  private func maker(_ name: String) -> (name: String, node: ONNXNode?) {
    var name = name
    // Nodes follow what they read, so that this ends; a file may break that rule.
    for _ in 0...nodes.count {
      guard let place = makers[name], ["Identity", "Cast"].contains(nodes[place].qualifiedKind),
        let source = nodes[place].inputs.first
      else { break }
      name = source
    }
    return (name, makers[name].map { nodes[$0] })
  }
}

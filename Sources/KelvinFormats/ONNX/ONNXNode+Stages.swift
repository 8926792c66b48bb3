extension ONNXNode {
  private static let depthLimit = 16
  /// Loops that lie deeper are refused where sizes inside depend on data.
  private static let loopDepthLimit = 4

  /// What it reads and how, sub-graphs included.
  ///
  /// - Parameter depth: how many loops it lies in.
  func staged(depth: Int = 0) throws(FormatError) -> StagedOperation {
    let (mapper, control) = (ONNXMapper.byName[qualifiedKind], ONNXControl.byName[qualifiedKind])
    let sequence = ONNXSequence.byName[qualifiedKind]
    return StagedOperation(
      uses: try uses(depth: 0), outputs: outputs,
      readsOnlyShapes: mapper?.readsOnlyShapes ?? sequence?.readsOnlyShapes ?? false,
      findsItsSize: mapper?.findsItsSize ?? control?.findsItsSize(self) ?? false,
      loop: try stagedLoop(depth: depth))
  }

  private func stagedLoop(depth: Int) throws(FormatError) -> StagedLoop? {
    guard qualifiedKind == ONNXControl.loop.name, depth < Self.loopDepthLimit, let body = try loopBody() else {
      return nil
    }
    var operations: [StagedOperation] = []
    for node in body.nodes { operations.append(try node.staged(depth: depth + 1)) }
    let names = (body.inputs.map(\.name), body.outputs.map(\.name))
    let carried = inputs.indices.dropFirst(2).map {
      StagedLoop.Carried(start: inputs[$0], given: names.0[$0], left: names.1[$0 - 1])
    }
    return StagedLoop(
      operations: operations, constants: Set(body.initializers.keys).union([names.0[1]]), given: [names.0[0]],
      carried: carried, goesOn: names.1[0], outputs: names.1,
      grows: !carriesLists && (accumulatesWithoutLimit || carried.contains { body.grows($0.given, into: $0.left) }),
      isUnrolled: carriesLists)
  }

  /// A loop's body; nil of what is no loop as the operator's text has it, which is refused when it is written.
  func loopBody() throws(FormatError) -> ONNXGraph? {
    guard let body = try attributes["body"]?.subgraphs().first, inputs.count >= 2, body.inputs.count == inputs.count,
      body.outputs.count >= inputs.count - 1
    else { return nil }
    return body
  }

  fileprivate func uses(depth: Int) throws(FormatError) -> [StagedUse] {
    let kind = qualifiedKind
    let valued =
      ONNXMapper.byName[kind]?.valuedInputs ?? ONNXSequence.byName[kind]?.valuedInputs
      ?? ONNXControl.byName[kind]?.valuedInputs(self) ?? []
    var uses: [StagedUse] = []
    for (index, name) in inputs.enumerated() where !name.isEmpty {
      uses.append(StagedUse(name: name, needsValue: valued.contains(index)))
    }
    // Deeper ones are refused when they are written.
    guard depth < Self.depthLimit else { return uses }
    for attribute in attributes.values {
      for graph in try attribute.subgraphs() { uses += try graph.uses(depth: depth) }
    }
    return uses
  }
}

extension ONNXGraph {
  /// Whether what a trip leaves is what it was given, joined with something else.
  fileprivate func grows(_ given: String, into left: String) -> Bool {
    let makers = Dictionary(nodes.flatMap { node in node.outputs.map { ($0, node) } }) { first, _ in first }
    /// The node behind those that change no size.
    func maker(_ name: String) -> (name: String, node: ONNXNode?) {
      var name = name
      // Nodes follow what they read, so that this ends; a file may break that rule.
      for _ in 0...nodes.count {
        guard let node = makers[name], ["Identity", "Cast"].contains(node.qualifiedKind), let source = node.inputs.first
        else { break }
        name = source
      }
      return (name, makers[name])
    }
    guard let joined = maker(left).node, joined.qualifiedKind == "Concat" else { return false }
    return joined.inputs.contains { maker($0).name == given }
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

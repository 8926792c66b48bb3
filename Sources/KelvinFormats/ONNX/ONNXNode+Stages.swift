extension ONNXNode {
  private static let depthLimit = 16

  /// What it reads and how, sub-graphs included.
  func staged() throws(FormatError) -> StagedOperation {
    let (mapper, control) = (ONNXMapper.byName[qualifiedKind], ONNXControl.byName[qualifiedKind])
    let sequence = ONNXSequence.byName[qualifiedKind]
    return StagedOperation(
      uses: try uses(depth: 0), outputs: outputs,
      readsOnlyShapes: mapper?.readsOnlyShapes ?? sequence?.readsOnlyShapes ?? false,
      findsItsSize: mapper?.findsItsSize ?? control?.findsItsSize(self) ?? false)
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

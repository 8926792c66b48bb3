import KelvinImport

extension NetworkLayer {
  /// The inputs of the layer and how it uses them, nested networks included, by the names of tensors.
  ///
  /// Control flow may or may not compute the tensors of its networks. Therefore it also reads the previous values of
  /// these tensors.
  var staged: StagedOperation {
    let mapper = LayerMapper.byName[number]
    return StagedOperation(
      uses: uses, outputs: isControl ? computedInside.sorted() : outputs,
      readsOnlyShapes: mapper?.readsOnlyShapes ?? false, hasDataDependentShape: mapper?.hasDataDependentShape ?? false)
  }

  private var computedInside: Set<String> { networks.reduce(into: []) { $0.formUnion($1.computed) } }

  private var uses: [StagedUse] {
    let valueDependent = LayerMapper.byName[number]?.valueDependentInputs ?? []
    var uses = inputs.enumerated().map { StagedUse(name: $1, needsValue: valueDependent.contains($0)) }
    guard isControl else { return uses }
    if !condition.isEmpty { uses.append(StagedUse(name: condition, needsValue: false)) }
    uses += networks.joined().flatMap(\.uses)
    let own = computedInside
    // A size that control flow changes is not known when the graph is built; the mapper reports this.
    uses = uses.map { StagedUse(name: $0.name, needsValue: $0.needsValue && !own.contains($0.name)) }
    return uses + own.sorted().map { StagedUse(name: $0, needsValue: false) }
  }
}

extension MILOperation {
  /// What it reads and how, blocks included.
  var staged: StagedOperation {
    let mapper = MILMapper.byName[kind]
    return StagedOperation(
      uses: uses, outputs: outputs.map(\.name), readsOnlyShapes: mapper?.readsOnlyShapes ?? false,
      findsItsSize: mapper?.findsItsSize ?? false)
  }

  private var uses: [StagedUse] {
    let mapper = MILMapper.byName[kind]
    let isDeclared = outputs.allSatisfy { $0.type.tensorType != nil }
    let valued = (mapper?.valuedInputs ?? []).union(isDeclared ? [] : mapper?.valuedUnlessDeclared ?? [])
    var uses = inputs.sorted { $0.key < $1.key }.flatMap { input, bindings in
      bindings.compactMap(\.name).map { StagedUse(name: $0, needsValue: valued.contains(input)) }
    }
    for block in blocks {
      var own = Set(block.inputs.map(\.name))
      for inner in block.operations {
        uses += inner.uses.filter { !own.contains($0.name) }
        own.formUnion(inner.outputs.map(\.name))
      }
      uses += block.outputs.filter { !own.contains($0) }.map { StagedUse(name: $0, needsValue: false) }
    }
    return uses
  }
}

extension MILFunction {
  /// The function cut where sizes depend on data. One with states is never cut: a state is memory of one graph.
  ///
  /// - Parameter outputs: the values that are wanted.
  func stages(outputs: [String]) -> [SizeStage] {
    let names = inputs.map(\.name)
    guard !inputs.contains(where: \.type.isState) else {
      return [SizeStage(operations: Array(block.operations.indices), inputs: names, valued: [], outputs: outputs)]
    }
    return SizeStages.stages(of: block.operations.map(\.staged), inputs: names, constants: [], outputs: outputs)
  }

  /// The function with the operations and inputs of one stage.
  func with(_ stage: SizeStage) -> MILFunction {
    var function = self
    function.inputs = inputs.filter { stage.inputs.contains($0.name) }
    function.block.operations = stage.operations.map { block.operations[$0] }
    return function
  }
}

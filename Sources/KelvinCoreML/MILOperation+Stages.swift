import KelvinGraph
import KelvinImport

extension MILOperation {
  /// Returns the inputs of the operation and how it uses them, blocks included.
  ///
  /// - Parameter depth: The number of blocks around the operation.
  func staged(depth: Int = 0) -> StagedOperation {
    let mapper = MILMapper.byName[kind]
    return StagedOperation(
      uses: uses, outputs: outputs.map(\.name), readsOnlyShapes: mapper?.readsOnlyShapes ?? false,
      hasDataDependentShape: mapper?.hasDataDependentShape ?? false, controlFlow: controlFlow(depth: depth))
  }

  private func controlFlow(depth: Int) -> StagedControlFlow? {
    // The condition's block occurs twice in an executed loop.
    let repeats = blocks.first?.operations.contains { !$0.blocks.isEmpty } ?? false
    let own = depth + (repeats ? StagedControlFlow.repeatedDepth : 1)
    if own <= StagedControlFlow.depthLimit, let loop = MILHostLoop(self) {
      return .loop(
        StagedLoop(
          body: StagedBlock(operations: loop.body.map { $0.staged(depth: own) }, outputs: loop.results),
          given: [], carried: loop.carried, goesOn: loop.goesOn,
          grows: mustRunOnHost || loop.body.contains(where: \.growsLists)
            || loop.carried.contains { carried in
              loop.body.contains { operation in
                operation.kind == "concat" && operation.outputs.contains { $0.name == carried.left }
                  && operation.inputs["values"]?.contains { $0.name == carried.given } == true
              }
            }))
    }
    if depth < StagedControlFlow.depthLimit, let branch = MILHostBranch(self) {
      let sides = [branch.then, branch.otherwise].map { block in
        StagedBlock(operations: block.operations.map { $0.staged(depth: depth + 1) }, outputs: block.outputs)
      }
      return .branch(StagedBranch(condition: branch.condition, sides: sides, differs: mustRunOnHost || growsLists))
    }
    return nil
  }

  private var uses: [StagedUse] {
    let mapper = MILMapper.byName[kind]
    let isDeclared = outputs.allSatisfy { $0.type.tensorType != nil }
    let valueDependent = (mapper?.valueDependentInputs ?? []).union(
      isDeclared ? [] : mapper?.valueDependentUnlessDeclared ?? []
    )
    .union(growsList ? ["index", "indices"] : [])
    var uses = inputs.sorted { $0.key < $1.key }.flatMap { input, bindings in
      bindings.compactMap(\.name).map { StagedUse(name: $0, needsValue: valueDependent.contains(input)) }
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

extension MILBlock {
  /// Returns the block in which the host executes the control flow of the given names.
  fileprivate func runningOnHost(_ names: Set<String>) -> MILBlock {
    var block = self
    for index in operations.indices where !operations[index].blocks.isEmpty {
      let operation = operations[index]
      block.operations[index].mustRunOnHost = names.containsControlFlow(operation.name)
      block.operations[index].blocks = operation.blocks.map { $0.runningOnHost(names) }
    }
    return block
  }
}

extension MILFunction {
  /// Returns the function in which the host executes the control flow of the given operation or result names, as far as
  /// possible.
  func runningOnHost(_ names: Set<String>) -> MILFunction {
    var function = self
    function.block = block.runningOnHost(names)
    return function
  }

  /// Returns the function with some of its operations and inputs.
  func with(_ operations: [MILOperation], _ names: [String]) -> MILFunction {
    var function = self
    function.inputs = inputs.filter { names.contains($0.name) }
    function.block.operations = operations
    return function
  }
}

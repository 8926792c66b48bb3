import KelvinGraph
import KelvinImport

/// The parts of an ML Program's function: graphs, split at data-dependent sizes, and control flow that the host
/// executes between them.
struct MILParts {
  let function: MILFunction
  /// The function's inputs. Each graph has those that it reads.
  let inputs: [Feature]
  let file: String
  let files: ModelFiles

  /// Returns the parts of the whole function. A function with states is never split, because a state is memory of one
  /// graph.
  ///
  /// - Parameters:
  ///   - outputs: The names of the requested values.
  ///   - slots: The slots of these values; a value without an entry has the slot of its own name.
  func parts(_ outputs: [String], slots: [String: String]) throws(FormatError) -> [FunctionPart] {
    let (operations, names) = (function.block.operations, function.inputs.map(\.name))
    guard !function.inputs.contains(where: \.type.isState) else {
      return [graph(GraphPart.onlyName, operations, names, outputs, slots: slots)]
    }
    return try parts(GraphPart.onlyName, operations, names, outputs, slots: slots)
  }

  private func parts(
    _ name: String, _ operations: [MILOperation], _ inputs: [String], _ outputs: [String],
    slots: [String: String] = [:]
  ) throws(FormatError) -> [FunctionPart] {
    let stages = SizeStages.stages(of: operations.map { $0.staged() }, inputs: inputs, constants: [], outputs: outputs)
    var parts: [FunctionPart] = []
    for (index, stage) in stages.enumerated() {
      let name = stages.count == 1 ? name : "\(name).\(index + 1)"
      let own = stage.operations.map { operations[$0] }
      let hostOperation = stage.hostOperation.map { operations[$0] }
      if let loop = hostOperation.flatMap(MILHostLoop.init) {
        parts += try self.parts(of: loop, name, known: own, stage.inputs, slots: slots)
      } else if let branch = hostOperation.flatMap(MILHostBranch.init) {
        parts += try self.parts(of: branch, name, known: own, stage.inputs, slots: slots)
      } else {
        parts.append(graph(name, own, stage.inputs, stage.outputs, valueDependent: stage.valueDependent, slots: slots))
      }
    }
    return parts
  }

  private func graph(
    _ name: String, _ operations: [MILOperation], _ inputs: [String], _ outputs: [String],
    valueDependent: Set<String> = [],
    slots: [String: String]
  ) -> FunctionPart {
    .graph(
      GraphPart(
        name: name, inputs: inputs, outputs: outputs.map { slots[$0] ?? $0 }, valueDependent: valueDependent,
        source: MILGraphSource(
          function: function.with(operations, inputs), inputs: self.inputs.filter { inputs.contains($0.name) },
          outputs: outputs, file: file, files: files)))
  }

  /// Returns the parts of a loop that the host executes, preceded by a graph that computes its initial values.
  ///
  /// - Parameters:
  ///   - known: The operations that compute those inputs of the loop that are known while graphs are built.
  ///   - computed: The inputs of the loop that other parts compute.
  private func parts(
    of loop: MILHostLoop, _ name: String, known: [MILOperation], _ computed: [String], slots: [String: String]
  ) throws(FormatError) -> [FunctionPart] {
    let source = MILGraphSource(
      function: function.with(loop.body, []), inputs: [], outputs: [], file: file, files: files)
    try source.checkOperations()
    let first = try loop.first(file: file)
    let begins = loop.carried.map(\.start).filter { !computed.contains($0) }.withoutRepetition + [first.goesOn]
    let used = Set((known + first.operations).flatMap { $0.staged().uses.map(\.name) } + [first.goesOn])
    let start = try parts("\(name).start", known + first.operations, computed.filter(used.contains), begins)
    let given = loop.carried.map(\.given)
    let body = try parts(name, known + loop.body, computed + given, loop.results.withoutRepetition)
    let carried = loop.carried.map { carried in
      LoopPart.Carried(
        start: carried.start, given: carried.given, left: carried.left,
        result: carried.result.map { slots[$0] ?? $0 })
    }
    return start + [
      .loop(
        LoopPart(
          name: loop.name, limit: nil, condition: first.goesOn, trip: nil, tripShape: [],
          goesOn: loop.goesOn, carried: carried, rows: [], captured: computed, body: body))
    ]
  }

  /// Returns the parts of a branch that the host executes, preceded by a graph that computes its condition if that is
  /// known while graphs are built.
  ///
  /// - Parameters:
  ///   - known: The operations that compute those inputs of the branch that are known while graphs are built.
  ///   - computed: The inputs of the branch that other parts compute.
  private func parts(
    of branch: MILHostBranch, _ name: String, known: [MILOperation], _ computed: [String], slots: [String: String]
  ) throws(FormatError) -> [FunctionPart] {
    func side(_ block: MILBlock, _ suffix: String) throws(FormatError) -> BranchPart.Side {
      let operations = known + block.operations
      let used = Set(operations.flatMap { $0.staged().uses.map(\.name) } + block.outputs)
      return BranchPart.Side(
        parts: try parts(
          "\(name).\(suffix)", operations, computed.filter(used.contains), block.outputs.withoutRepetition),
        left: block.outputs)
    }
    let used = Set(known.flatMap { $0.staged().uses.map(\.name) })
    let start =
      computed.contains(branch.condition)
      ? [] : try parts("\(name).start", known, computed.filter(used.contains), [branch.condition])
    return start + [
      .branch(
        BranchPart(
          name: branch.name, condition: branch.condition, then: try side(branch.then, "then"),
          otherwise: try side(branch.otherwise, "else"), outputs: branch.results.map { slots[$0] ?? $0 },
          captured: computed))
    ]
  }
}

import KelvinGraph
import KelvinImport

/// One graph of a pipeline: stages, or parts of stages, with the graph's inputs and outputs.
struct StageGroup {
  var stages: [any ModelStage]
  var inputs: [String]
  /// The inputs whose elements determine sizes.
  var valueDependent: Set<String>
  var outputs: [String]
}

extension StageGroup {
  /// Returns the parts of stages: one graph, unless sizes depend on data within a network.
  ///
  /// - Parameters:
  ///   - stages: The stages in order, each with the names that it writes.
  ///   - inputs: The features and the values of earlier parts that the stages read.
  ///   - outputs: The requested values.
  ///   - name: The name of the graph; several graphs append their numbers.
  ///   - graph: Returns a graph of the function, given its name and contents.
  static func parts(
    of stages: [(stage: any ModelStage, writes: [String])], inputs: [String], outputs: [String], name: String,
    graph: (String, StageGroup) -> FunctionPart
  ) -> [FunctionPart] {
    cutParts(of: stages, inputs: inputs, outputs: outputs, name: name, graph: graph)
      ?? [graph(name, StageGroup(stages: stages.map(\.stage), inputs: inputs, valueDependent: [], outputs: outputs))]
  }

  /// Returns the parts of stages that are split at data-dependent sizes.
  ///
  /// - Returns: Nil if a split is not needed or not possible.
  private static func cutParts(
    of stages: [(stage: any ModelStage, writes: [String])], inputs: [String], outputs: [String], name: String,
    graph: (String, StageGroup) -> FunctionPart
  ) -> [FunctionPart]? {
    let operations = stages.enumerated().map { place, item in
      (item.stage as? any SplittableStage)?.operations(at: place)
        ?? [
          StagedOperation(
            uses: item.stage.inputs.map { StagedUse(name: $0.name, needsValue: false) }, outputs: item.writes)
        ]
    }
    let all = operations.joined()
    let needsCut = all.contains {
      $0.hasDataDependentShape || $0.controlFlow != nil || $0.uses.contains(where: \.needsValue)
    }
    // Stages that compute a feature again are not split.
    let names = inputs + all.flatMap(\.outputs)
    guard needsCut, Set(names).count == names.count else { return nil }
    let cut = SizeStages.stages(of: Array(all), inputs: inputs, constants: [], outputs: outputs)
    guard cut.count > 1 || cut.contains(where: { !$0.valueDependent.isEmpty }) else { return nil }
    var parts: [FunctionPart] = []
    for (number, part) in cut.enumerated() {
      let name = cut.count == 1 ? name : "\(name).\(number + 1)"
      var members: [any ModelStage] = []
      var first = 0
      for (place, (item, own)) in zip(stages, operations).enumerated() {
        let range = first..<(first + own.count)
        first = range.upperBound
        let chosen = part.operations.filter(range.contains).map { $0 - range.lowerBound }
        let divisible = item.stage as? any SplittableStage
        if let hostOperation = part.hostOperation, range.contains(hostOperation) {
          let parted = divisible?.hostParts(
            hostOperation - range.lowerBound, known: chosen, of: part, at: place, name: name, graph: graph)
          guard let parted, chosen.count == part.operations.count else { return nil }
          parts += parted
        } else if !chosen.isEmpty {
          guard let divisible else {
            members.append(item.stage)
            continue
          }
          guard let member = divisible.part(chosen, of: part, at: place) else { return nil }
          members.append(member)
        }
      }
      guard part.hostOperation == nil else { continue }
      parts.append(
        graph(
          name,
          StageGroup(stages: members, inputs: part.inputs, valueDependent: part.valueDependent, outputs: part.outputs)))
    }
    return parts
  }
}

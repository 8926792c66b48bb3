import KelvinGraph

/// One graph of a model of models: stages, or parts of stages, and what passes in and out.
struct StageGroup {
  var stages: [any ModelStage]
  var inputs: [String]
  /// The inputs whose elements decide sizes.
  var valued: Set<String>
  var outputs: [String]
}

extension StageGroup {
  /// The graphs in a row that stages become: one, unless sizes depend on data within a network.
  ///
  /// - Parameters:
  ///   - stages: in their order, each with what it writes.
  ///   - inputs: what they read of features and of earlier parts.
  ///   - outputs: what is wanted of them.
  static func groups(
    of stages: [(stage: any ModelStage, writes: [String])], inputs: [String], outputs: [String]
  ) -> [StageGroup] {
    let whole = StageGroup(stages: stages.map(\.stage), inputs: inputs, valued: [], outputs: outputs)
    let operations = stages.enumerated().map { place, item in
      (item.stage as? any DivisibleStage)?.operations(at: place)
        ?? [
          StagedOperation(
            uses: item.stage.inputs.map { StagedUse(name: $0.name, needsValue: false) }, outputs: item.writes)
        ]
    }
    let all = operations.joined()
    let needsCut = all.contains { $0.findsItsSize || $0.uses.contains(where: \.needsValue) }
    // Stages that compute a feature again are not cut.
    let names = inputs + all.flatMap(\.outputs)
    guard needsCut, Set(names).count == names.count else { return [whole] }
    let cut = SizeStages.stages(of: Array(all), inputs: inputs, constants: [], outputs: outputs)
    guard cut.count > 1 || cut.contains(where: { !$0.valued.isEmpty }) else { return [whole] }
    var groups: [StageGroup] = []
    for part in cut {
      var members: [any ModelStage] = []
      var first = 0
      for (place, (item, own)) in zip(stages, operations).enumerated() {
        let chosen = part.operations.filter { (first..<(first + own.count)).contains($0) }.map { $0 - first }
        first += own.count
        guard !chosen.isEmpty else { continue }
        guard let divisible = item.stage as? any DivisibleStage else {
          members.append(item.stage)
          continue
        }
        guard let member = divisible.part(chosen, of: part, at: place) else { return [whole] }
        members.append(member)
      }
      groups.append(
        StageGroup(stages: members, inputs: part.inputs, valued: part.valued, outputs: part.outputs))
    }
    return groups
  }
}

import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// The parts of a pipeline: graphs of consecutive stages, and the host operations between them.
struct StageParts {
  let parts: [FunctionPart]

  private enum Item {
    /// A stage; `made` holds the outputs of its description that its host operations compute.
    case stage(any ModelStage, made: Set<String>)
    case step(any HostOperation)

    var step: (any HostOperation)? { if case .step(let step) = self { step } else { nil } }
    var stage: (any ModelStage)? { if case .stage(let stage, _) = self { stage } else { nil } }

    var reads: [String] {
      switch self {
      case .stage(let stage, _): stage.inputs.map(\.name)
      case .step(let step): step.inputs
      }
    }

    var writes: [String] {
      switch self {
      case .stage(let stage, let made):
        let scores = stage.labels == nil ? [] : [StageSlot.scores]
        return stage.outputs.map(\.name).filter { !made.contains($0) } + scores + stage.steps.flatMap(\.inputs)
      case .step(let step): return step.outputs
      }
    }
  }

  /// Creates the parts of a pipeline.
  ///
  /// - Parameters:
  ///   - outputs: The outputs of the outermost model.
  ///   - predictedFeature: The outermost model's name for the label of the last classifier.
  init(
    _ stages: [PipelineStage], _ inputs: [Feature], _ outputs: [Feature], predictedFeature: String, file: String
  ) {
    let items = Self.items(stages, outputs, predictedFeature: predictedFeature)
    let groups = PartOrder(items.map { .init(isHost: $0.step != nil, reads: $0.reads, writes: $0.writes) }).groups
    let isOnly = groups.count { !$0.isHost } == 1
    let readByHost = Set(items.compactMap(\.step).flatMap(\.inputs))
    let given = Set(inputs.map(\.name))
    var parts: [FunctionPart] = []
    var written: Set<String> = []
    var graphs = 0
    for (index, group) in groups.enumerated() {
      let members = group.items.map { items[$0] }
      if group.isHost {
        parts += members.compactMap(\.step).map { .host($0) }
      } else {
        let own = Set(members.flatMap(\.writes))
        let later = groups[(index + 1)...].flatMap(\.items).flatMap { items[$0].reads }
        let left = (outputs.map(\.name) + later).filter(own.contains)
        // A model's only graph has all inputs of the model, read or not, except those that host operations read.
        let all = isOnly ? inputs.filter { !$0.type.isHostKind }.map(\.name).filter { !readByHost.contains($0) } : []
        let read = all + members.flatMap(\.reads).filter { given.contains($0) || written.contains($0) }
        graphs += 1
        let stages = members.compactMap { member in
          member.stage.map { (stage: $0, writes: member.writes) }
        }
        let name = isOnly ? GraphPart.onlyName : "\(GraphPart.onlyName)\(graphs)"
        parts += StageGroup.parts(
          of: stages, inputs: read.withoutRepetition, outputs: left.withoutRepetition, name: name
        ) { name, group in
          .graph(
            GraphPart(
              name: name, inputs: group.inputs, outputs: group.outputs, valueDependent: group.valueDependent,
              source: StageGraphSource(
                stages: group.stages, inputs: inputs.filter { group.inputs.contains($0.name) }, outputs: group.outputs,
                file: file)))
        }
      }
      written.formUnion(members.flatMap(\.writes))
    }
    self.parts = parts
  }

  /// Returns stages and the host operations after them, in the order of the pipeline.
  private static func items(_ stages: [PipelineStage], _ outputs: [Feature], predictedFeature: String) -> [Item] {
    let last = stages.lastIndex { $0.labels != nil }
    let read = Set((outputs + stages.flatMap(\.inputs)).map(\.name)).union(stages.flatMap(\.steps).flatMap(\.inputs))
    return stages.enumerated().flatMap { index, stage -> [Item] in
      let labelSteps = labelSteps(
        stage, index == last ? outputs : [], predictedFeature: index == last ? predictedFeature : "", read: read)
      switch stage {
      case .host: return (stage.steps + labelSteps).map(Item.step)
      case .graph(let graph):
        let steps = labelSteps + stage.steps
        return [.stage(graph, made: Set(steps.flatMap(\.outputs)))] + steps.map(Item.step)
      }
    }
  }

  /// Returns the operations that compute a classifier's label, under its own name and under the model's, and its
  /// dictionary.
  ///
  /// - Parameters:
  ///   - outputs: The outputs of the outermost model for the last classifier, otherwise empty.
  ///   - predictedFeature: The outermost model's name for the label; empty if it has none.
  ///   - read: The names that stages read, and the model's outputs.
  private static func labelSteps(
    _ stage: PipelineStage, _ outputs: [Feature], predictedFeature: String, read: Set<String>
  ) -> [any HostOperation] {
    guard let labels = stage.labels else { return [] }
    let own = stage.outputs.first { $0.type == .string || $0.type == .int64 }?.name
    let names = [predictedFeature, own ?? ""].filter { $0 == predictedFeature || read.contains($0) }
    var steps: [any HostOperation] = names.filter { !$0.isEmpty }.withoutRepetition.map { name in
      TopLabel(labels, scores: StageSlot.scores, output: name)
    }
    let dictionaries = (stage.outputs + outputs).filter { if case .dictionary = $0.type { true } else { false } }
    if let probabilities = dictionaries.first(where: { read.contains($0.name) }) {
      steps.append(LabelDictionary(labels, scores: StageSlot.scores, output: probabilities.name))
    }
    return steps
  }
}

import KelvinGraph
import KelvinSteps

/// A model of a pipeline whose features are texts or dictionaries: host steps, no graph.
struct HostStage: Sendable {
  let kind: String
  let inputs: [Feature]
  let outputs: [Feature]
  let steps: [any HostStep]

  var structure: SourceStructure {
    .network(layers: [
      SourceOperation(name: kind, kind: kind, inputs: inputs.map(\.name), outputs: outputs.map(\.name))
    ])
  }
}

/// A model of a pipeline.
enum PipelineStage: Sendable {
  case graph(any ModelStage)
  case host(HostStage)

  var graph: (any ModelStage)? { if case .graph(let stage) = self { stage } else { nil } }

  var inputs: [Feature] {
    switch self {
    case .graph(let stage): stage.inputs
    case .host(let stage): stage.inputs
    }
  }

  var structure: SourceStructure {
    switch self {
    case .graph(let stage): stage.structure
    case .host(let stage): stage.structure
    }
  }
}

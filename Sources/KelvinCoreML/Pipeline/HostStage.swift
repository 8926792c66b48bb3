import KelvinGraph
import KelvinHostOperations
import KelvinImport

/// A model of a pipeline that the host executes: a classical model, in double precision, or a model on strings or
/// dictionaries.
struct HostStage: Sendable {
  let kind: String
  let inputs: [Feature]
  let outputs: [Feature]
  let steps: [any HostOperation]
  /// The classes of a classifier. Its operations then write `StageSlot.scores`.
  var labels: Labels?

  var structure: SourceStructure {
    .network(layers: [
      SourceOperation(name: kind, kind: kind, inputs: inputs.map(\.name), outputs: outputs.map(\.name))
    ])
  }
}

extension Labels {
  /// Reads the labels of a message from the string or the integer field; nil if it has neither.
  init?(_ parameters: LayerParameters, strings: Int, integers: Int) throws(FormatError) {
    guard let field = try parameters.choice(among: [strings, integers]),
      let message = try parameters.message(field)
    else { return nil }
    self = try Labels(message.message, areStrings: field == strings)
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

  var outputs: [Feature] {
    switch self {
    case .graph(let stage): stage.outputs
    case .host(let stage): stage.outputs
    }
  }

  var labels: Labels? {
    switch self {
    case .graph(let stage): stage.labels
    case .host(let stage): stage.labels
    }
  }

  /// The operations that the host executes after the stage's graph.
  var steps: [any HostOperation] {
    switch self {
    case .graph(let stage): stage.steps
    case .host(let stage): stage.steps
    }
  }

  var structure: SourceStructure {
    switch self {
    case .graph(let stage): stage.structure
    case .host(let stage): stage.structure
    }
  }
}

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

extension HostStage {
  /// Creates a model on numbers. Its inputs are joined to one vector, and the result is a vector.
  init(
    _ kind: String, _ function: some RowFunction, _ inputs: [Feature], _ outputs: [Feature], labels: Labels? = nil,
    file: String
  ) throws(FormatError) {
    guard !inputs.isEmpty, !outputs.isEmpty else {
      throw FormatError(.malformed, file: file, place: kind, "it has \(inputs.count) inputs, \(outputs.count) outputs")
    }
    let layout = RowLayout.joined(widths: inputs.map(\.elementCount))
    let output = outputs.first { if case .dictionary = $0.type { false } else { true } } ?? outputs[0]
    let step = RowOperation(
      function, layout, inputs: inputs.map(\.name), output: labels == nil ? output.name : StageSlot.scores)
    self.init(kind: kind, inputs: inputs, outputs: outputs, steps: [step], labels: labels)
  }

  /// Returns the single input and output of a model.
  static func ends(
    _ kind: String, _ message: WireMessage, _ inputs: [Feature], _ outputs: [Feature]
  ) throws(FormatError) -> (input: String, output: String) {
    guard inputs.count == 1, outputs.count == 1 else {
      throw malformed(
        kind, message, "it has \(inputs.count) inputs and \(outputs.count) outputs, expected one of each")
    }
    return (inputs[0].name, outputs[0].name)
  }

  /// Returns the mandatory labels of a classifier, from the string or the integer field.
  static func labels(_ parameters: LayerParameters, strings: Int, integers: Int) throws(FormatError) -> Labels {
    guard let labels = try Labels(parameters, strings: strings, integers: integers) else {
      throw unknown("a classifier without labels", parameters.message)
    }
    return labels
  }

  /// Returns an error about a malformed model.
  ///
  /// - Parameter place: The part of the model that is malformed.
  static func malformed(_ place: String, _ message: WireMessage, _ reason: String) -> FormatError {
    FormatError(.malformed, file: message.file, place: place, offset: message.offset, reason)
  }

  static func unknown(_ what: String, _ message: WireMessage) -> FormatError {
    FormatError(.unsupported, file: message.file, offset: message.offset, "\(what) is not known")
  }
}

extension Feature {
  /// The number of elements, if it is fixed and within limits.
  fileprivate var elementCount: Int? {
    switch type {
    case .int64, .double: return 1
    case .tensor(_, let dimensions):
      let sizes = dimensions.compactMap { if case .fixed(let size) = $0 { size } else { nil } }
      guard sizes.count == dimensions.count, Shape(sizes).isAddressable, Shape(sizes).count <= 1 << 20 else {
        return nil
      }
      return Shape(sizes).count
    default: return nil
    }
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

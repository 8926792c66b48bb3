import KelvinGraph

/// A model on vectors of numbers that is not a network: its inputs are joined to one float32 vector, and a vector comes
/// out.
struct VectorStage: ModelStage {
  /// Writes the model's nodes.
  typealias Body = @Sendable (_ emitter: Emitter, _ x: ValueID) throws -> ValueID

  let kind: String
  /// Chosen as the inputs' order.
  let inputs: [Feature]
  let outputs: [Feature]
  var labels: Labels?
  private let body: Body

  init(
    _ kind: String, _ inputs: [Feature], _ outputs: [Feature], labels: Labels? = nil, body: @escaping Body
  ) {
    self.kind = kind
    self.inputs = inputs
    self.outputs = outputs
    self.labels = labels
    self.body = body
  }

  var structure: SourceStructure {
    .network(layers: [
      SourceOperation(name: kind, kind: kind, inputs: inputs.map(\.name), outputs: outputs.map(\.name))
    ])
  }

  func emit(_ emitter: Emitter, _ values: [String: ValueID]) throws -> [String: ValueID] {
    let output = outputs.first { if case .dictionary = $0.type { false } else { true } }
    emitter.begin(
      Origin(name: kind, kind: kind, index: 0), outputNames: labels == nil ? output.map { [$0.name] } ?? [] : [])
    var parts: [ValueID] = []
    for input in inputs {
      guard let id = values[input.name] else { throw emitter.invalid("nothing computes its input '\(input.name)'") }
      let float = try emitter.cast(id, to: .float32, step: "float32")
      parts.append(try emitter.reshape(float, [emitter.shape(id).count], step: "vector"))
    }
    guard !parts.isEmpty else { throw emitter.invalid("it has no inputs") }
    let x = parts.count == 1 ? parts[0] : try emitter.concat(parts, axis: 0, step: "joined")
    let y = try body(emitter, x)
    var result: [String: ValueID] = [:]
    if labels != nil {
      result[StageSlot.scores] = y
    } else if let output {
      result[output.name] = y
    }
    return result
  }
}

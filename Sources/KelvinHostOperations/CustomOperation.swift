package import KelvinGraph

/// A custom layer of a network, or a custom model: code that the model's file only names, and that the program gives.
///
/// A file is read without this code; loading the model adds it. Two operations are equal if the file's description is
/// equal, weights aside.
package struct CustomOperation: HostOperation {
  package static let name = "custom"

  /// A parameter in the model's file.
  package enum Parameter: Hashable, Sendable {
    case double(Double)
    case string(String)
    case integer(Int64)
    case bool(Bool)
    case bytes([UInt8])
  }

  /// The part of the file that describes the code.
  package struct Source: Sendable {
    package let kind: HostOperationError.CustomCode
    /// The name of the layer; empty for a model.
    package let place: String
    package let className: String
    package let summary: String
    package let parameters: [String: Parameter]
    /// The layer's weights, in the file's encodings.
    package let weights: [Bytes]
    /// The inputs and outputs of a model; empty for a layer, whose operands are tensors.
    package let features: (inputs: [Feature], outputs: [Feature])

    package init(
      kind: HostOperationError.CustomCode, place: String, className: String, summary: String,
      parameters: [String: Parameter], weights: [Bytes] = [],
      features: (inputs: [Feature], outputs: [Feature]) = ([], [])
    ) {
      self.kind = kind
      self.place = place
      self.className = className
      self.summary = summary
      self.parameters = parameters
      self.weights = weights
      self.features = features
    }
  }

  /// The program's code.
  package struct Implementation: Sendable {
    let types: @Sendable ([HostType]) throws -> [HostType]
    let run: @Sendable ([HostValue]) throws -> [HostValue]

    package init(
      types: @escaping @Sendable ([HostType]) throws -> [HostType],
      run: @escaping @Sendable ([HostValue]) throws -> [HostValue]
    ) {
      self.types = types
      self.run = run
    }
  }

  package let source: Source
  package let inputs: [String]
  package let outputs: [String]
  package var implementation: Implementation?

  package init(_ source: Source, inputs: [String], outputs: [String]) {
    self.source = source
    self.inputs = inputs
    self.outputs = outputs
  }

  /// Returns the types that the code states. An error is left to `run`, which can name it.
  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] {
    guard implementation != nil, let types = try? call({ try $0.types(inputs) }) else {
      return outputs.map { _ in .unknown }
    }
    return types
  }

  package func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue] {
    try call { try $0.run(inputs) }
  }

  private func call<Result>(
    _ body: (Implementation) throws -> [Result]
  ) throws(HostOperationError) -> [Result] {
    guard let implementation else { throw failed("the program has no code for it") }
    let results: [Result]
    do { results = try body(implementation) } catch { throw failed("\(error)") }
    guard results.count == outputs.count else {
      throw failed("it gives \(results.count) results, expected \(outputs.count)")
    }
    return results
  }

  /// Returns an error about the program's code.
  package func failed(_ reason: String, remedy: String? = nil) -> HostOperationError {
    HostOperationError(
      step: "\(source.kind.rawValue) (class \(source.className))",
      slot: source.place.isEmpty ? outputs.first ?? "" : source.place, reason: reason, remedy: remedy,
      customCode: source.kind)
  }

  package static func == (a: Self, b: Self) -> Bool {
    (a.source.className, a.source.place, a.inputs, a.outputs)
      == (b.source.className, b.source.place, b.inputs, b.outputs) && a.source.parameters == b.source.parameters
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(source.className)
    hasher.combine(inputs)
    hasher.combine(outputs)
  }
}

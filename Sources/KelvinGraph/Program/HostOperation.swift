/// A part of a function that runs on the host, on values that graphs do not hold: strings, dictionaries, lists of any
/// lengths.
///
/// The value describes the operation and implements it. Host operations keep no state between predictions.
package protocol HostOperation: Hashable, Sendable {
  /// The name in snake case, unique among host operations.
  static var name: String { get }
  /// The slots that the operation reads.
  var inputs: [String] { get }
  /// The slots that the operation writes.
  var outputs: [String] { get }

  /// Returns the types of the outputs, given those of the inputs; `.unknown` for a type that depends on their contents.
  ///
  /// - Throws: `HostOperationError` if an input type is not supported.
  func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType]

  /// Returns the outputs, in order.
  ///
  /// - Throws: `HostOperationError` for an input of an unsupported kind or with invalid contents.
  func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue]
}

extension HostOperation {
  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] { outputs.map { _ in .unknown } }

  /// Returns an error about an input, or about the output if the operation has only constant operands.
  package func refused(_ position: Int, _ reason: String, remedy: String? = nil) -> HostOperationError {
    let slot = inputs.indices.contains(position) ? inputs[position] : outputs.first ?? ""
    return HostOperationError(step: Self.name, slot: slot, reason: reason, remedy: remedy)
  }

  package func tensor(_ position: Int, _ values: [HostValue]) throws(HostOperationError) -> Tensor {
    try tensor(position, values[position])
  }

  package func tensor(_ position: Int, _ value: HostValue) throws(HostOperationError) -> Tensor {
    guard case .tensor(let tensor) = value else { throw expected("a tensor", position, value) }
    return tensor
  }

  package func strings(_ position: Int, _ values: [HostValue]) throws(HostOperationError) -> StringTensor {
    try strings(position, values[position])
  }

  package func strings(_ position: Int, _ value: HostValue) throws(HostOperationError) -> StringTensor {
    guard case .strings(let strings) = value else { throw expected("strings", position, value) }
    return strings
  }

  package func dictionary(_ position: Int, _ values: [HostValue]) throws(HostOperationError) -> HostDictionary {
    guard case .dictionary(let dictionary) = values[position] else {
      throw expected("a dictionary", position, values[position])
    }
    return dictionary
  }

  private func expected(_ kind: String, _ position: Int, _ value: HostValue) -> HostOperationError {
    if case .absent = value { return refused(position, "no value was given, expected \(kind)", remedy: "give one") }
    return refused(position, "expected \(kind), got \(value.type)")
  }
}

/// An error about a value that a host operation does not support.
package struct HostOperationError: Error, Hashable, Sendable, CustomStringConvertible {
  package let step: String
  /// The slot that holds the value.
  package let slot: String
  package let reason: String
  package let remedy: String?
  /// The kind of the program's code that failed; nil for Kelvin's own operations.
  package let customCode: CustomCode?

  /// A part of a model that the program implements.
  package enum CustomCode: String, Hashable, Sendable {
    case layer = "custom layer"
    case model = "custom model"
  }

  package init(
    step: String, slot: String, reason: String, remedy: String? = nil, customCode: CustomCode? = nil
  ) {
    self.step = step
    self.slot = slot
    self.reason = reason
    self.remedy = remedy
    self.customCode = customCode
  }

  package var description: String {
    let remedy = remedy.map { "; \($0)" } ?? ""
    return "\(step) of '\(slot)': \(reason)\(remedy)"
  }
}

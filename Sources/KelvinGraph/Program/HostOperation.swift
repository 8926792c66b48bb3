/// A part of a function that runs on the host, on values that no graph holds: strings, dictionaries, lists of any
/// lengths.
///
/// A value that says what is done, and the one place that does it. Steps keep nothing between runs.
package protocol HostOperation: Hashable, Sendable {
  /// In snake case, unique among steps.
  static var name: String { get }
  /// The slots it reads.
  var inputs: [String] { get }
  /// The slots it writes.
  var outputs: [String] { get }

  /// What the outputs are, as far as inputs of these kinds tell: `.unknown` for what depends on their contents.
  ///
  /// - Throws: `HostOperationError` where no input of such a kind is taken.
  func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType]

  /// The outputs, in order.
  ///
  /// - Throws: `HostOperationError` for an input whose kind or contents it does not take.
  func run(_ inputs: [HostValue]) throws(HostOperationError) -> [HostValue]
}

extension HostOperation {
  package func types(_ inputs: [HostType]) throws(HostOperationError) -> [HostType] { outputs.map { _ in .unknown } }

  /// An error about an input; about the output where a step knows all that it reads.
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

/// A host step cannot take a value.
package struct HostOperationError: Error, Hashable, Sendable, CustomStringConvertible {
  package let step: String
  /// The slot with the value.
  package let slot: String
  package let reason: String
  package let remedy: String?

  package init(step: String, slot: String, reason: String, remedy: String? = nil) {
    self.step = step
    self.slot = slot
    self.reason = reason
    self.remedy = remedy
  }

  package var description: String {
    let remedy = remedy.map { "; \($0)" } ?? ""
    return "\(step) of '\(slot)': \(reason)\(remedy)"
  }
}

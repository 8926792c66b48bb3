import KelvinGraph

extension HostValue {
  /// Returns the single number that controls a loop or branch.
  ///
  /// - Parameters:
  ///   - slot: the slot of the value.
  ///   - place: the loop or branch that reads it.
  ///   - meaning: the meaning of the number, for the message.
  /// - Throws: `HostOperationError` for anything else.
  func number(of slot: String, _ place: String, saying meaning: String) throws(HostOperationError) -> Tensor {
    guard case .tensor(let tensor) = self, tensor.count == 1 else {
      throw HostOperationError(
        step: place, slot: slot, reason: "is \(type), expected one number for \(meaning)")
    }
    return tensor
  }
}

import KelvinGraph

extension HostValue {
  /// The one number by which a walk goes on.
  ///
  /// - Parameters:
  ///   - slot: that it is the value of.
  ///   - place: who reads it.
  ///   - meaning: what it says.
  /// - Throws: `HostOperationError` for anything else.
  func number(of slot: String, _ place: String, saying meaning: String) throws(HostOperationError) -> Tensor {
    guard case .tensor(let tensor) = self, tensor.count == 1 else {
      throw HostOperationError(step: place, slot: slot, reason: "is \(type), expected one number, which says \(meaning)")
    }
    return tensor
  }
}

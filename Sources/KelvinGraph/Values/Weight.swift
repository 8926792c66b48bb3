import Synchronization

/// A constant tensor of a model, in the form in which the file stores it.
///
/// Devices pack weights once into a layout of their own, so a weight says how it is encoded and lets each device choose
/// where to expand it. `dense()` is the expansion every device can fall back on. Nothing is read from the file before
/// that: a model whose packed weights are cached starts without touching its weights.
package struct Weight: Sendable {
  package enum Encoding: Sendable {
    /// Plain elements, usually in a mapped file.
    case dense(Tensor)
    /// Elements that a pass computes from other weights when they are first needed.
    case deferred(DeferredTensor)
  }

  package let encoding: Encoding

  package init(_ tensor: Tensor) { encoding = .dense(tensor) }

  /// A weight that is computed at its first use, once.
  ///
  /// - Parameter compute: returns a tensor of exactly this type.
  package init(_ type: TensorType, computing compute: @escaping @Sendable () -> Tensor) {
    encoding = .deferred(DeferredTensor(type, compute))
  }

  package var type: TensorType {
    switch encoding {
    case .dense(let tensor): tensor.type
    case .deferred(let deferred): deferred.type
    }
  }

  /// The elements themselves.
  package func dense() -> Tensor {
    switch encoding {
    case .dense(let tensor): tensor
    case .deferred(let deferred): deferred.value()
    }
  }

  /// Bytes the encoded form takes.
  package var storedByteCount: Int { type.byteCount }
}

/// A tensor that is computed when it is first asked for.
package final class DeferredTensor: Sendable {
  package let type: TensorType
  private let compute: @Sendable () -> Tensor
  private let computed = Mutex<Tensor?>(nil)

  fileprivate init(_ type: TensorType, _ compute: @escaping @Sendable () -> Tensor) {
    self.type = type
    self.compute = compute
  }

  package func value() -> Tensor {
    computed.withLock { computed in
      if let computed { return computed }
      let tensor = compute()
      precondition(tensor.type == type, "a deferred weight of \(type) was computed as \(tensor.type)")
      computed = tensor
      return tensor
    }
  }
}

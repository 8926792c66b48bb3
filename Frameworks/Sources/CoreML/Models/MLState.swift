public import Foundation
public import Kelvin

/// The states of a stateful model, such as a KV cache.
public final class MLState: NSObject, @unchecked Sendable {
  /// Kelvin's states.
  public let kelvin: ModelState

  init(_ state: ModelState) { kelvin = state }
}

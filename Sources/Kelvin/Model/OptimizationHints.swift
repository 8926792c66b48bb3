/// What is known of how a model will be used.
public struct OptimizationHints: Hashable, Sendable {
  /// How often the sizes of flexible inputs change.
  public enum ReshapeFrequency: String, Hashable, Sendable {
    /// Often: the compiled forms of the latest eight sizes are kept.
    case frequent
    /// Seldom: those of the latest two are kept, which takes less memory.
    case infrequent
  }

  /// How often the sizes of flexible inputs change.
  public var reshapeFrequency: ReshapeFrequency

  /// Hints; the default is Core ML's.
  public init(reshapeFrequency: ReshapeFrequency = .frequent) { self.reshapeFrequency = reshapeFrequency }

  /// Compiled forms kept besides that of the model's usual sizes.
  var specializationLimit: Int { reshapeFrequency == .frequent ? 8 : 2 }
}

/// Hints about how a model will be used.
public struct OptimizationHints: Hashable, Sendable {
  /// How often the sizes of flexible inputs change.
  public enum ReshapeFrequency: String, Hashable, Sendable {
    /// The sizes change often: the specializations of the latest eight sizes are kept.
    case frequent
    /// The sizes change seldom: the specializations of the latest two sizes are kept, which takes less memory.
    case infrequent
  }

  /// How often the sizes of flexible inputs change.
  public var reshapeFrequency: ReshapeFrequency

  /// Creates hints. The default is Core ML's.
  public init(reshapeFrequency: ReshapeFrequency = .frequent) { self.reshapeFrequency = reshapeFrequency }

  /// The number of specializations kept besides that of the default sizes.
  package var specializationLimit: Int { reshapeFrequency == .frequent ? 8 : 2 }
}

package import KelvinThermal

/// A timed measurement.
package struct BenchmarkSample: Sendable, Hashable {
  package enum Phase: String, Sendable, Hashable, Codable {
    /// A complete start with empty caches.
    case coldStart = "cold start"
    /// A complete start with the caches of an earlier one.
    case start
    /// Inferences one after the other.
    case warm
    /// The sustained load; seconds from arrival to answer.
    case sustained
  }

  package var phase: Phase
  /// The index of the round; rounds of all configurations with the same index are paired.
  package var round: Int
  package var seconds: Double
  /// Seconds since the configuration's sustained part began; nil in other phases.
  package var at: Double?
  package var thermal: ThermalState?
}

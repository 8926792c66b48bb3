package import KelvinThermal

/// One thing that was timed.
package struct BenchmarkSample: Sendable, Hashable {
  package enum Phase: String, Sendable, Hashable, Codable {
    /// A complete start with nothing cached.
    case coldStart = "cold start"
    /// A complete start with what an earlier one has cached.
    case start
    /// One inference after the other.
    case warm
    /// The load that goes on; seconds from arrival to answer.
    case sustained
  }

  package var phase: Phase
  /// Its round; rounds of one number belong together.
  package var round: Int
  package var seconds: Double
  /// Seconds since the configuration's sustained part began; nil in other phases.
  package var at: Double?
  package var thermal: ThermalState?

  package init(phase: Phase, round: Int, seconds: Double, at: Double? = nil, thermal: ThermalState? = nil) {
    self.phase = phase
    self.round = round
    self.seconds = seconds
    self.at = at
    self.thermal = thermal
  }
}

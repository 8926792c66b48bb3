package import KelvinMeasurements
package import KelvinThermal

/// The timeline of one inference on all devices.
package struct ReportTimeline: Sendable {
  package var units: String
  package var events: [TraceEvent]

  package init(units: String, events: [TraceEvent]) {
    self.units = units
    self.events = events
  }
}

/// A long run of one configuration, in seconds from its start.
package struct ReportSeries: Sendable {
  package typealias Point = (at: Double, latency: Double)
  /// An action of a governor, or another event that explains a change: its name, such as `rate × 0.5` or `drop`, and
  /// the cause in words.
  package typealias Action = (at: Double, name: String, cause: String)
  /// A period in which other processes took processor time.
  package typealias Disturbance = (from: Double, to: Double)

  package struct Heat: Sendable, Hashable, Codable {
    package var at: Double
    package var state: ThermalState
    /// The thermal headroom; 1.0 is the limit.
    package var headroom: Double
    /// The ratio of effective to reference clock, where known.
    package var clockRatio: Double?
    /// The machine's power in watts, measured or estimated.
    package var watts: Double?

    package init(
      at: Double, state: ThermalState, headroom: Double, clockRatio: Double? = nil, watts: Double? = nil
    ) {
      self.at = at
      self.state = state
      self.headroom = headroom
      self.clockRatio = clockRatio
      self.watts = watts
    }
  }

  package var units: String
  /// Whether the run was computed for a simulated envelope instead of measured.
  package var isSimulated = false
  package var points: [Point]
  /// The seconds within which an answer is wanted, drawn as a line.
  package var deadline: Double?
  package var heat: [Heat] = []
  package var heatSource: String
  package var fit: DecayFit?
  package var actions: [Action] = []
  package var disturbances: [Disturbance] = []

  package init(units: String, points: [Point], heatSource: String = "", fit: DecayFit? = nil) {
    self.units = units
    self.points = points
    self.heatSource = heatSource
    self.fit = fit
  }
}

package import KelvinMeasurements
package import KelvinThermal

/// The timeline of one inference on all devices.
package struct ReportTimeline: Sendable, Hashable, Codable {
  package var units: String
  package var events: [TraceEvent]

  package init(units: String, events: [TraceEvent]) {
    self.units = units
    self.events = events
  }
}

/// A long run of one configuration.
package struct ReportSeries: Sendable, Hashable, Codable {
  package struct Point: Sendable, Hashable, Codable {
    /// The time from the start of the run in seconds.
    package var at: Double
    package var latency: Double

    package init(at: Double, latency: Double) {
      self.at = at
      self.latency = latency
    }
  }

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

  /// An action of a governor, or another event that explains a change.
  package struct Action: Sendable, Hashable, Codable {
    package var at: Double
    /// The name: `rate × 0.5`, `drop`, `plan all-lean`.
    package var name: String
    /// The cause in words.
    package var cause: String

    package init(at: Double, name: String, cause: String) {
      self.at = at
      self.name = name
      self.cause = cause
    }
  }

  /// A period in which other processes took processor time.
  package struct Disturbance: Sendable, Hashable, Codable {
    package var from: Double
    package var to: Double

    package init(from: Double, to: Double) {
      self.from = from
      self.to = to
    }
  }

  package var units: String
  /// Whether the run was computed for a simulated envelope instead of measured.
  package var isSimulated: Bool
  package var points: [Point]
  package var heat: [Heat]
  package var heatSource: String
  package var fit: DecayFit?
  package var actions: [Action]
  package var disturbances: [Disturbance]

  package init(
    units: String, isSimulated: Bool = false, points: [Point], heat: [Heat] = [], heatSource: String = "",
    fit: DecayFit? = nil, actions: [Action] = [], disturbances: [Disturbance] = []
  ) {
    self.units = units
    self.isSimulated = isSimulated
    self.actions = actions
    self.disturbances = disturbances
    self.points = points
    self.heat = heat
    self.heatSource = heatSource
    self.fit = fit
  }
}

package import KelvinMeasurements
package import KelvinThermal

/// One inference, device by device.
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
    /// Seconds from the start of the run.
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
    /// 1.0 is the limit.
    package var headroom: Double
    /// Effective over reference clock, while it can be told.
    package var clockRatio: Double?
    /// The machine's power, measured or estimated.
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

  /// What a governor did, or another event that explains a change.
  package struct Action: Sendable, Hashable, Codable {
    package var at: Double
    /// `rate × 0.5`, `drop`, `plan all-lean`.
    package var name: String
    /// In words.
    package var cause: String

    package init(at: Double, name: String, cause: String) {
      self.at = at
      self.name = name
      self.cause = cause
    }
  }

  /// A stretch of time in which somebody else took processor time.
  package struct Disturbance: Sendable, Hashable, Codable {
    package var from: Double
    package var to: Double

    package init(from: Double, to: Double) {
      self.from = from
      self.to = to
    }
  }

  package var units: String
  /// Measured, or computed against a simulated envelope.
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

/// Where a statement about heat comes from, best first.
package enum ThermalSource: String, Sendable, Hashable, Codable {
  /// A temperature was read.
  case sensor
  /// Measured power feeds the model.
  case energy
  /// The hardware counted throttle events, or says that heat lowers its clock; how near the limit is, the model says.
  case throttleCounter = "throttle counter"
  /// The effective clock is known; how near the limit is, the model says.
  case clockProbe = "clock probe"
  /// The kernel's clock has proved to follow the hardware; how near the limit is, the model says.
  case clock = "cpufreq"
  /// The model, fed with utilisation or estimated power: an estimate.
  case model
}

/// One look at the heat of the machine.
package struct ThermalReport: Sendable, Hashable, Codable {
  /// Seconds on the caller's clock.
  package var at: Double
  package var state: ThermalState
  /// 1.0 is the limit; may exceed it.
  package var headroom: Double
  package var source: ThermalSource
  /// The source in words: the sensor's name, or the model's envelope and what feeds it.
  package var sourceDescription: String
  /// Only when a sensor measured it.
  package var celsius: Double?
  /// Measured or estimated, as `source` says; nil when only a temperature is known.
  package var watts: Double?
  /// Effective over reference clock, while it can be told from contention.
  package var clockRatio: Double?
  package var contention: Contention?
  /// Throttle events since the report before.
  package var throttleEvents: Int
  /// Seconds until the limit at the present load, by the model; nil when it will not be reached.
  package var timeToLimit: Double?
  /// For asking what another load would do from here.
  package var outlook: ThermalOutlook?
  /// What limits trust in this report: counters that may not be read, sensors that stopped answering.
  package var remarks: [String]

  package init(
    at: Double, state: ThermalState, headroom: Double, source: ThermalSource, sourceDescription: String,
    celsius: Double? = nil, watts: Double? = nil, clockRatio: Double? = nil, contention: Contention? = nil,
    throttleEvents: Int = 0, timeToLimit: Double? = nil, outlook: ThermalOutlook? = nil,
    remarks: [String] = []
  ) {
    self.at = at
    self.state = state
    self.headroom = headroom
    self.source = source
    self.sourceDescription = sourceDescription
    self.celsius = celsius
    self.watts = watts
    self.clockRatio = clockRatio
    self.contention = contention
    self.throttleEvents = throttleEvents
    self.timeToLimit = timeToLimit
    self.outlook = outlook
    self.remarks = remarks
  }
}

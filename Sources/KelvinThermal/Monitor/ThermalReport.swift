/// The source of a thermal report, best first.
package enum ThermalSource: String, Sendable, Hashable, Codable {
  /// A temperature sensor.
  case sensor
  /// Measured power, which feeds the model.
  case energy
  /// Throttle events counted by the hardware, or a reported thermal slowdown; the model gives the headroom.
  case throttleCounter = "throttle counter"
  /// The effective clock; the model gives the headroom.
  case clockProbe = "clock probe"
  /// The kernel's clock, which was found to follow the hardware; the model gives the headroom.
  case clock = "cpufreq"
  /// The model, with utilization or estimated power: an estimate.
  case model
}

/// The thermal state of the machine at one moment.
package struct ThermalReport: Sendable, Hashable, Codable {
  /// Seconds on the caller's clock.
  package var at: Double
  package var state: ThermalState
  /// 1.0 is the limit; may exceed it.
  package var headroom: Double
  package var source: ThermalSource
  /// The source in words: the sensor's name, or the model's envelope and its input.
  package var sourceDescription: String
  /// The temperature; nil unless a sensor measured it.
  package var celsius: Double?
  /// Measured or estimated power, according to `source`; nil when unknown.
  package var watts: Double?
  /// The ratio of the effective to the reference clock; nil when it cannot be distinguished from contention.
  package var clockRatio: Double?
  package var contention: Contention?
  /// The number of throttle events since the previous report.
  package var throttleEvents: Int
  /// Seconds until the limit at the present load, by the model; nil when it will not be reached.
  package var timeToLimit: Double?
  /// The outlook, which predicts the effect of another load.
  package var outlook: ThermalOutlook?
  /// Limits of this report: counters without read permission, sensors that stopped answering.
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

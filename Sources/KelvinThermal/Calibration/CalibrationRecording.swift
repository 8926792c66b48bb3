/// The readings of one temperature sensor while a machine rested, worked and rested again.
package struct CalibrationRecording: Sendable, Hashable {
  package struct Sample: Sendable, Hashable {
    /// Seconds from the beginning, ascending.
    package var at: Double
    /// Nil when the sensor did not answer.
    package var celsius: Double?
    /// The mean power since the previous sample; nil when no sensor measured it.
    package var watts: Double?
    package var phase: CalibrationSchedule.Phase

    package init(at: Double, celsius: Double?, watts: Double?, phase: CalibrationSchedule.Phase) {
      self.at = at
      self.celsius = celsius
      self.watts = watts
      self.phase = phase
    }
  }

  package var sensor: String
  /// The temperature at which the hardware slows down, in degrees Celsius.
  package var limitCelsius: Double
  package var limitIsAssumed: Bool
  /// The sensor of `watts`; nil when there was none.
  package var powerSensor: String?
  package var samples: [Sample]

  package init(
    sensor: String, limitCelsius: Double, limitIsAssumed: Bool = false, powerSensor: String?, samples: [Sample]
  ) {
    self.sensor = sensor
    self.limitCelsius = limitCelsius
    self.limitIsAssumed = limitIsAssumed
    self.powerSensor = powerSensor
    self.samples = samples
  }

  /// The largest share of samples without a temperature.
  package static let maximumMissing = 0.1

  /// Seconds between the first and the last sample under load.
  package var loadSeconds: Double {
    let loaded = samples.filter { $0.phase == .load }
    guard let first = loaded.first, let last = loaded.last else { return 0 }
    return last.at - first.at
  }

  /// Returns the watts of every sample: the measured ones, where gaps repeat the previous value. Without measurements,
  /// returns the envelope's watts at rest and at full load.
  func watts(assuming envelope: ThermalEnvelope) -> [Double] {
    guard powerSensor != nil, let first = samples.lazy.compactMap(\.watts).first else {
      return samples.map { $0.phase == .load ? envelope.fullLoadWatts : envelope.idleWatts }
    }
    var last = first
    return samples.map { sample in
      last = sample.watts ?? last
      return last
    }
  }
}

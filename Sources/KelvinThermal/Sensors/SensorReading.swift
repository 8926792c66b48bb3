package import KelvinMeasurements

/// What part of the machine a reading is about.
package enum SensorDomain: String, Sendable, Hashable, Codable {
  case processor
  case graphics
  case skin
  case other
}

package struct TemperatureReading: Sendable, Hashable, Codable {
  /// As the kernel names it, e.g. `hwmon coretemp "Package id 0"`.
  package var sensor: String
  package var domain: SensorDomain
  package var celsius: Double
  /// Where the hardware or the kernel starts to slow down.
  package var limitCelsius: Double
  /// The machine states no limit and `limitCelsius` is the usual one for such a chip.
  package var limitIsAssumed: Bool

  package init(
    sensor: String, domain: SensorDomain, celsius: Double, limitCelsius: Double, limitIsAssumed: Bool = false
  ) {
    self.sensor = sensor
    self.domain = domain
    self.celsius = celsius
    self.limitCelsius = limitCelsius
    self.limitIsAssumed = limitIsAssumed
  }

  /// The room assumed around the machine, in degrees Celsius.
  package static let ambientCelsius = 25.0

  /// Rise over the rise at the limit; 1.0 is the limit.
  package var headroom: Double {
    (celsius - Self.ambientCelsius) / max(limitCelsius - Self.ambientCelsius, 1)
  }

  /// Readings outside are a sensor's way of saying nothing (−274 °C, 65535 °C), and so is 0 exactly.
  static func plausible(milliCelsius: Int) -> Double? {
    milliCelsius != 0 && (-40_000...150_000).contains(milliCelsius) ? Double(milliCelsius) / 1000 : nil
  }
}

/// Names a piece of silicon as several interfaces name it: the hexadecimal digits of its UUID, lower case.
package struct HardwareIdentity: Sendable, Hashable, Codable {
  package var digits: String

  /// - Parameter text: `GPU-0011…-eeff`, or the digits alone.
  package init(_ text: String) {
    let plain = text.hasPrefix("GPU-") ? text.dropFirst(4) : text[...]
    digits = String(plain.lowercased().filter { $0.isHexDigit })
  }
}

/// A clock and the highest it may have.
package struct ClockReading: Sendable, Hashable, Codable {
  package var sensor: String
  package var domain: SensorDomain
  package var hertz: Double
  package var highestHertz: Double

  package init(sensor: String, domain: SensorDomain, hertz: Double, highestHertz: Double) {
    self.sensor = sensor
    self.domain = domain
    self.hertz = hertz
    self.highestHertz = highestHertz
  }
}

/// Why hardware runs slower than asked for, at this moment.
package struct ThrottleReason: Sendable, Hashable, Codable {
  package var sensor: String
  package var reason: String
  /// Heat, rather than a limit of power.
  package var isHeat: Bool

  package init(sensor: String, reason: String, isHeat: Bool) {
    self.sensor = sensor
    self.reason = reason
    self.isHeat = isHeat
  }
}

/// A counter of energy; two of them make a power.
package struct EnergyReading: Sendable, Hashable, Codable {
  /// No single counter's hardware draws more; what looks like more is a counter that was reset.
  package static let mostWatts = 20_000.0

  package var sensor: String
  package var domain: SensorDomain
  package var joules: Double
  /// The counter starts again from zero after this many joules.
  package var rangeJoules: Double
  /// The long-term power limit set for the package, in watts, where one is shown.
  package var limitWatts: Double?
  /// The card, where it is one.
  package var resource: HardwareIdentity?

  package init(
    sensor: String, domain: SensorDomain = .processor, joules: Double, rangeJoules: Double, limitWatts: Double? = nil,
    resource: HardwareIdentity? = nil
  ) {
    self.sensor = sensor
    self.domain = domain
    self.joules = joules
    self.rangeJoules = rangeJoules
    self.limitWatts = limitWatts
    self.resource = resource
  }

  /// Whether it counts what this silicon uses.
  ///
  /// - Parameter resource: a device's `resource`, "cpu" for the processor.
  package func counts(_ resource: String) -> Bool {
    resource == "cpu" ? domain == .processor : self.resource == HardwareIdentity(resource)
  }

  /// Joules since an earlier reading of the same counter: a negative difference means that it wrapped once.
  /// Nil for no time passed, another counter, or a difference that no hardware makes in that time.
  package func joules(since earlier: EnergyReading, seconds: Double) -> Double? {
    guard seconds > 0, seconds.isFinite, sensor == earlier.sensor else { return nil }
    var difference = joules - earlier.joules
    if difference < 0 { difference += rangeJoules }
    guard difference >= 0, difference <= rangeJoules, difference <= Self.mostWatts * seconds else { return nil }
    return difference
  }

  /// Mean watts since an earlier reading, as `joules(since:seconds:)`.
  package func watts(since earlier: EnergyReading, seconds: Double) -> Double? {
    joules(since: earlier, seconds: seconds).map { $0 / seconds }
  }
}

package struct PowerReading: Sendable, Hashable, Codable {
  package var sensor: String
  package var domain: SensorDomain
  package var watts: Double
  /// The limit set, where one is shown.
  package var limitWatts: Double?
  /// The card, where it is one.
  package var resource: HardwareIdentity?

  package init(
    sensor: String, domain: SensorDomain, watts: Double, limitWatts: Double? = nil, resource: HardwareIdentity? = nil
  ) {
    self.sensor = sensor
    self.domain = domain
    self.watts = watts
    self.limitWatts = limitWatts
    self.resource = resource
  }
}

/// Throttle events counted since boot, summed over the cores.
package struct ThrottleReading: Sendable, Hashable, Codable {
  package var coreEvents: Int
  package var packageEvents: Int

  package init(coreEvents: Int, packageEvents: Int) {
    self.coreEvents = coreEvents
    self.packageEvents = packageEvents
  }
}

/// Everything one look at the sensors gave.
package struct SensorSnapshot: Sendable, Hashable, Codable {
  package var temperatures: [TemperatureReading] = []
  package var powers: [PowerReading] = []
  package var energies: [EnergyReading] = []
  package var throttle: ThrottleReading?
  package var throttleReasons: [ThrottleReason] = []
  /// The highest current clock of the processor and of each card; a guest's means nothing.
  package var clocks: [ClockReading] = []
  /// What is there and cannot be used, in words.
  package var remarks: [String] = []

  package init() {}
}

/// One kind of sensor. Adds what it finds; finding nothing is normal.
package protocol SensorReader: Sendable {
  static var name: String { get }
  func read(_ files: SystemFiles, into snapshot: inout SensorSnapshot)
}

/// Every reader there is, best source first.
package let sensorReaders: [any SensorReader] = [
  ThermalZoneReader(), HardwareMonitorReader(), NVMLReader(), EnergyCounterReader(), ThrottleReader(),
]

extension SensorSnapshot {
  package static func take(_ files: SystemFiles, readers: [any SensorReader] = sensorReaders) -> SensorSnapshot {
    var snapshot = SensorSnapshot()
    for reader in readers { reader.read(files, into: &snapshot) }
    return snapshot
  }
}

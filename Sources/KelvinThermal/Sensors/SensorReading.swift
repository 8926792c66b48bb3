package import KelvinMeasurements

/// The part of the machine that a reading concerns.
package enum SensorDomain: String, Sendable, Hashable, Codable {
  case processor
  case graphics
  case skin
  case other
}

package struct TemperatureReading: Sendable, Hashable, Codable {
  /// The kernel's name, e.g. `hwmon coretemp "Package id 0"`.
  package var sensor: String
  package var domain: SensorDomain
  package var celsius: Double
  /// The temperature at which the hardware or the kernel slows down.
  package var limitCelsius: Double
  /// Whether the machine states no limit and `limitCelsius` is the usual one for such a chip.
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

  /// The assumed ambient temperature in degrees Celsius.
  package static let ambientCelsius = 25.0

  /// The rise divided by the rise at the limit; 1.0 is the limit.
  package var headroom: Double {
    (celsius - Self.ambientCelsius) / max(limitCelsius - Self.ambientCelsius, 1)
  }

  /// Returns nil for implausible values, with which sensors indicate that they have no reading: −274 °C, 65535 °C, or
  /// exactly 0.
  static func plausible(milliCelsius: Int) -> Double? {
    milliCelsius != 0 && (-40_000...150_000).contains(milliCelsius) ? Double(milliCelsius) / 1000 : nil
  }
}

/// Identifies hardware across interfaces: the hexadecimal digits of its UUID in lower case.
package struct HardwareIdentity: Sendable, Hashable, Codable {
  package var digits: String

  /// - Parameter text: `GPU-0011…-eeff`, or only the digits.
  package init(_ text: String) {
    let plain = text.hasPrefix("GPU-") ? text.dropFirst(4) : text[...]
    digits = String(plain.lowercased().filter { $0.isHexDigit })
  }
}

/// A clock and its maximum.
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

/// The reason for which hardware currently runs slower than requested.
package struct ThrottleReason: Sendable, Hashable, Codable {
  package var sensor: String
  package var reason: String
  /// Whether the reason is heat, and not a power limit.
  package var isHeat: Bool
}

/// A reading of an energy counter; two readings give a mean power.
package struct EnergyReading: Sendable, Hashable, Codable {
  /// The largest plausible power of a counter; a larger difference indicates that the counter was reset.
  package static let mostWatts = 20_000.0

  package var sensor: String
  package var domain: SensorDomain
  package var joules: Double
  /// The counter restarts at zero after this many joules.
  package var rangeJoules: Double
  /// The configured long-term power limit of the package in watts, if reported.
  package var limitWatts: Double?
  /// The identity of the card; nil for a processor.
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

  /// Whether the counter measures this hardware.
  ///
  /// - Parameter resource: a device's `resource`, "cpu" for the processor.
  package func counts(_ resource: String) -> Bool {
    resource == "cpu" ? domain == .processor : self.resource == HardwareIdentity(resource)
  }

  /// Returns the joules since an earlier reading of the same counter. A negative difference means that the counter
  /// wrapped once. Nil without elapsed time, for another counter, or for an implausible difference.
  package func joules(since earlier: EnergyReading, seconds: Double) -> Double? {
    guard seconds > 0, seconds.isFinite, sensor == earlier.sensor else { return nil }
    var difference = joules - earlier.joules
    if difference < 0 { difference += rangeJoules }
    guard difference >= 0, difference <= rangeJoules, difference <= Self.mostWatts * seconds else { return nil }
    return difference
  }

  /// Returns the mean watts since an earlier reading, as `joules(since:seconds:)`.
  package func watts(since earlier: EnergyReading, seconds: Double) -> Double? {
    joules(since: earlier, seconds: seconds).map { $0 / seconds }
  }
}

package struct PowerReading: Sendable, Hashable, Codable {
  package var sensor: String
  package var domain: SensorDomain
  package var watts: Double
  /// The configured limit, if reported.
  package var limitWatts: Double?
  /// The identity of the card; nil for a processor.
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

/// Throttle events since boot, summed over the cores.
package struct ThrottleReading: Sendable, Hashable, Codable {
  package var coreEvents: Int
  package var packageEvents: Int

  package init(coreEvents: Int, packageEvents: Int) {
    self.coreEvents = coreEvents
    self.packageEvents = packageEvents
  }
}

/// The readings of all sensors at one moment.
package struct SensorSnapshot: Sendable, Hashable, Codable {
  package var temperatures: [TemperatureReading] = []
  package var powers: [PowerReading] = []
  package var energies: [EnergyReading] = []
  package var throttle: ThrottleReading?
  package var throttleReasons: [ThrottleReason] = []
  /// The highest current clock of the processor and of each card; meaningless in a guest.
  package var clocks: [ClockReading] = []
  /// Sensors that exist but cannot be used, in words.
  package var remarks: [String] = []

  package init() {}
}

/// A kind of sensor. A reader adds its readings; finding none is normal.
package protocol SensorReader: Sendable {
  static var name: String { get }
  func read(_ files: SystemFiles, into snapshot: inout SensorSnapshot)
}

/// All sensor readers, best source first.
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

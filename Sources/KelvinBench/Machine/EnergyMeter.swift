import KelvinBasics
package import KelvinDevices
package import KelvinMeasurements
package import KelvinThermal

/// The energy of some work above idle, and its source.
package struct EnergyUse: Sendable, Hashable, Codable {
  /// Nil when the energy of a device that worked is unknown.
  package var joules: Double?
  /// The source in words: the counters and the idle power subtracted, or the basis of the estimate.
  package var source: String
  /// Whether every part of the energy was read from a counter.
  package var isMeasured: Bool

  package init(joules: Double?, source: String, isMeasured: Bool) {
    self.joules = joules
    self.source = source
    self.isMeasured = isMeasured
  }
}

/// Measures the joules of some work with the energy counters of the processor (RAPL) and of cards (NVML, hwmon), less
/// their idle power. Without counters, estimates them from CPU time and the envelope.
///
/// One wrap of a counter is corrected. A counter that was reset or that stopped answering is ignored, and its part is
/// estimated if possible.
package struct EnergyMeter {
  /// The seconds of idling over which idle power is measured.
  package static let quiet = 0.3

  private let counters: EnergyCounters
  private let envelope: ThermalEnvelope
  private let cores: Int
  private let clock: any MeasurementClock
  private let othersSeconds: () -> Double
  private var readings: [EnergyReading] = []
  private var startedAt = 0.0
  private var cpuSeconds = 0.0
  /// Idle power by sensor, measured once; empty without counters.
  private let idleWatts: [String: Double]

  /// Creates a meter. Waits for `quiet` seconds if there are counters.
  ///
  /// - Parameter othersSeconds: returns the processor time that this process has used for unmeasured work.
  package init(
    counters: EnergyCounters, envelope: ThermalEnvelope, cores: Int, clock: any MeasurementClock = SystemClock(),
    othersSeconds: @escaping () -> Double = { 0 }
  ) {
    self.othersSeconds = othersSeconds
    self.counters = counters
    self.envelope = envelope
    self.cores = max(1, cores)
    self.clock = clock
    idleWatts = counters.watts(over: Self.quiet, clock: clock)
  }

  package mutating func start() {
    readings = counters.readings()
    startedAt = clock.now()
    cpuSeconds = ProcessorTime.ofProcess.seconds - othersSeconds()
  }

  /// Returns the energy since `start` of these devices and of the host, which works for every device.
  package func stop(devices: [DeviceInfo]) -> EnergyUse {
    let now = counters.readings()
    let seconds = clock.now() - startedAt
    var joules = 0.0
    var sources: [String] = []
    var isMeasured = true
    for resource in Set(devices.map(\.resource)).union(["cpu"]).sorted() {
      let counters = readings.filter { $0.counts(resource) }
      if let used = Self.used(counters, now, seconds) {
        let idle = counters.reduce(0) { $0 + (idleWatts[$1.sensor] ?? 0) }
        joules += max(0, used - idle * seconds)
        let names = counters.map(\.sensor).joined(separator: ", ")
        sources.append("measured by \(names), less \(HumanReadable.significant(idle)) W at idle")
      } else if resource == "cpu" {
        isMeasured = false
        joules += estimate
        sources.append(estimateSource + (counters.isEmpty ? "" : "; \(counters[0].sensor) stopped answering"))
      } else {
        let id = devices.first { $0.resource == resource }?.id ?? resource
        return EnergyUse(joules: nil, source: "unknown: nothing measures \(id)", isMeasured: false)
      }
    }
    return EnergyUse(joules: joules, source: sources.joined(separator: "; "), isMeasured: isMeasured)
  }

  /// Returns nil without counters, or when a counter is missing or implausible.
  private static func used(_ counters: [EnergyReading], _ now: [EnergyReading], _ seconds: Double) -> Double? {
    guard !counters.isEmpty else { return nil }
    var sum = 0.0
    for counter in counters {
      guard let later = now.first(where: { $0.sensor == counter.sensor }),
        let joules = later.joules(since: counter, seconds: seconds)
      else { return nil }
      sum += joules
    }
    return sum
  }

  /// The estimate: the process's share of the machine's CPU time, times the power above idle at full load.
  private var estimate: Double {
    max(0, ProcessorTime.ofProcess.seconds - othersSeconds() - cpuSeconds) / Double(cores)
      * (envelope.fullLoadWatts - envelope.idleWatts)
  }

  private var estimateSource: String {
    let range =
      "\(HumanReadable.significant(envelope.idleWatts)) to \(HumanReadable.significant(envelope.fullLoadWatts)) W"
    return "estimated: CPU time × the envelope \"\(envelope.name)\" (\(range) over all processors), above idle"
  }
}

import KelvinBasics
package import KelvinDevices
package import KelvinMeasurements
package import KelvinThermal

/// Joules above idle of a stretch of work, and where they come from.
package struct EnergyUse: Sendable, Hashable, Codable {
  /// Nil where the energy of a device that worked cannot be known.
  package var joules: Double?
  /// In words: which counters, with how much idle power taken off, or what the estimate rests on.
  package var source: String
  /// Every part of it was read from a counter.
  package var isMeasured: Bool

  package init(joules: Double?, source: String, isMeasured: Bool) {
    self.joules = joules
    self.source = source
    self.isMeasured = isMeasured
  }
}

/// Joules of a stretch of work: read from energy counters of the processor (RAPL) and of cards (NVML, hwmon), less what
/// the same counters ran up while nothing was asked for; or else estimated from CPU time and the envelope.
///
/// A counter that wraps is followed through one wrap; one that was reset, or stopped answering, is not believed, and its
/// part is estimated where it can be.
package struct EnergyMeter {
  /// Seconds of quiet by which idle power is measured.
  package static let quiet = 0.3

  private let counters: EnergyCounters
  private let envelope: ThermalEnvelope
  private let cores: Int
  private let clock: any MeasurementClock
  private let othersSeconds: () -> Double
  private var readings: [EnergyReading] = []
  private var startedAt = 0.0
  private var cpuSeconds = 0.0
  /// By sensor; measured once, where there is a counter.
  private let idleWatts: [String: Double]

  /// Waits for `quiet` seconds where there are counters.
  ///
  /// - Parameter othersSeconds: processor time that this process has used for what is not measured.
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

  /// What was used since `start` by these devices and the host, which works for every device.
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

  /// Nil without counters, or where one of them is not there any more or cannot be believed.
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

  /// CPU time of this process as a share of the machine's, times what the machine draws above idle at full load.
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

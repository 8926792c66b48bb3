import KelvinBasics
package import KelvinDevices
package import KelvinMeasurements
package import KelvinThermal

/// The energy of some work above idle, and its source.
package struct EnergyUse: Sendable, Hashable, Codable {
  /// Nil when the energy of a device that worked is unknown. A measured energy may be below zero, by noise.
  package var joules: Double?
  /// The source in words: the counters and the idle power subtracted, or the basis of the estimate.
  package var source: String
  /// Whether every part of the energy was read from a counter.
  package var isMeasured: Bool
  /// Half the width of the 95 % interval of the idle energy that was subtracted from a measured one; nil if unknown.
  package var doubt: Double?

  package init(joules: Double?, source: String, isMeasured: Bool, doubt: Double? = nil) {
    self.doubt = doubt
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
  private let counters: EnergyCounters
  private let envelope: ThermalEnvelope
  private let cores: Int
  private let clock: any MeasurementClock
  private let othersSeconds: () -> Double
  private var readings: [EnergyReading] = []
  private var startedAt = 0.0
  private var cpuSeconds = 0.0
  private let idle: IdlePower

  /// Creates a meter.
  ///
  /// - Parameters:
  ///   - idle: the power at rest; nil to measure it now, which takes seconds if there are counters.
  ///   - othersSeconds: returns the processor time that this process has used for unmeasured work.
  package init(
    counters: EnergyCounters, envelope: ThermalEnvelope, cores: Int, idle: IdlePower? = nil,
    clock: any MeasurementClock = SystemClock(), othersSeconds: @escaping () -> Double = { 0 }
  ) {
    self.othersSeconds = othersSeconds
    self.counters = counters
    self.envelope = envelope
    self.cores = max(1, cores)
    self.clock = clock
    self.idle = idle ?? IdlePower(counters, clock: clock)
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
    var (joules, doubt) = (0.0, 0.0)
    var sources: [String] = []
    var isMeasured = true
    for resource in Set(devices.map(\.resource)).union(["cpu"]).sorted() {
      let counters = readings.filter { $0.counts(resource) }
      if let used = Self.used(counters, now, seconds) {
        let names = counters.map(\.sensor)
        let idle = idle.sum(of: names)
        joules += used - idle.watts * seconds
        doubt += idle.doubt * seconds
        let share = HumanReadable.percent(idle.watts > 0 ? idle.doubt / idle.watts : 0)
        sources.append(
          "measured by \(names.joined(separator: ", ")), less \(HumanReadable.significant(idle.watts)) W ± \(share) at idle"
        )
      } else if resource == "cpu" {
        isMeasured = false
        joules += estimate
        sources.append(estimateSource + (counters.isEmpty ? "" : "; \(counters[0].sensor) stopped answering"))
      } else {
        let id = devices.first { $0.resource == resource }?.id ?? resource
        return EnergyUse(joules: nil, source: "unknown: nothing measures \(id)", isMeasured: false)
      }
    }
    return EnergyUse(
      joules: joules, source: sources.joined(separator: "; "), isMeasured: isMeasured, doubt: isMeasured ? doubt : nil)
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

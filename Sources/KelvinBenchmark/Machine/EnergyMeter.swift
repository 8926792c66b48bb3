import Glibc
import KelvinDevices
import KelvinProfiling

/// Joules of a stretch of work: measured by the processor's energy counters, or else estimated from CPU time.
struct EnergyMeter {
  private let files: SystemFiles
  private let envelope: ThermalEnvelope
  private let cores: Int
  private var readings: [EnergyReading] = []
  private var cpuSeconds = 0.0

  init(files: SystemFiles, envelope: ThermalEnvelope, cores: Int) {
    self.files = files
    self.envelope = envelope
    self.cores = max(1, cores)
  }

  mutating func start() {
    readings = SensorSnapshot.take(files, readers: [EnergyCounterReader()]).energies
    cpuSeconds = Self.processSeconds()
  }

  /// Joules since `start`, and where they come from; nil where the devices' energy cannot be known.
  func stop(devices: [DeviceInfo]) -> (joules: Double?, source: String) {
    if let foreign = devices.first(where: { $0.resource != "cpu" }) {
      return (nil, "unknown: nothing measures \(foreign.id)")
    }
    let now = SensorSnapshot.take(files, readers: [EnergyCounterReader()]).energies
    let used = now.compactMap { reading in
      readings.first { $0.sensor == reading.sensor }.flatMap { reading.watts(since: $0, seconds: 1) }
    }
    if !used.isEmpty { return (used.reduce(0, +), "measured by \(EnergyCounterReader.name), idle power included") }
    let busy = max(0, Self.processSeconds() - cpuSeconds) / Double(cores)
    let range =
      "\(HumanReadable.significant(envelope.idleWatts)) to \(HumanReadable.significant(envelope.fullLoadWatts)) W"
    return (
      busy * (envelope.fullLoadWatts - envelope.idleWatts),
      "estimated: CPU time × the envelope \"\(envelope.name)\" (\(range) over all processors), above idle"
    )
  }

  private static func processSeconds() -> Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) * 1e-6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }
}

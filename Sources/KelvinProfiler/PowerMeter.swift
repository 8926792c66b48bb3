import Glibc
import KelvinDevices
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
import KelvinThermal

/// What a device draws while it works, summed over its turns: the processor's energy counters where they can be read,
/// else processor time and the envelope of the class of machine, else a guess for the kind of device.
struct PowerMeter {
  private let files: SystemFiles
  private let envelope: ThermalEnvelope
  private let cores: Int
  private let info: DeviceInfo
  private let idleWatts: Double?
  private let clock: any MeasurementClock

  private var began = 0.0
  private var before: [EnergyReading] = []
  private var processorSeconds = 0.0
  private var seconds = 0.0
  private var joules = 0.0
  private var used = 0.0

  /// - Parameter idleWatts: what the energy counters say of the machine at rest; nil where there are none.
  init(
    _ info: DeviceInfo, files: SystemFiles, envelope: ThermalEnvelope, cores: Int, idleWatts: Double?,
    clock: any MeasurementClock
  ) {
    self.info = info
    self.files = files
    self.envelope = envelope
    self.cores = max(1, cores)
    self.idleWatts = idleWatts
    self.clock = clock
  }

  /// Mean watts of the processors over a moment; nil without counters.
  static func idleWatts(_ files: SystemFiles, clock: any MeasurementClock, for seconds: Double) -> Double? {
    let before = readings(files)
    guard !before.isEmpty else { return nil }
    let began = clock.now()
    clock.sleep(until: began + seconds)
    let watts = joules(readings(files), since: before) / max(clock.now() - began, 1e-3)
    return watts > 0 ? watts : nil
  }

  mutating func start() {
    began = clock.now()
    used = ProcessorTime.ofProcess.seconds
    if idleWatts != nil { before = Self.readings(files) }
  }

  mutating func stop() {
    seconds += clock.now() - began
    processorSeconds += ProcessorTime.ofProcess.seconds - used
    if idleWatts != nil { joules += Self.joules(Self.readings(files), since: before) }
  }

  var power: DevicePower {
    guard info.resource == "cpu" else {
      let guess = info.planningKind.powerGuess
      return DevicePower(
        idleWatts: guess.idle, busyWatts: guess.busy,
        source: "a guess for the kind of device (\(info.kind.rawValue)): nothing here measures it")
    }
    if let idleWatts, seconds > 0, joules > 0 {
      return DevicePower(
        idleWatts: idleWatts, busyWatts: max(idleWatts, joules / seconds),
        source: "measured by \(EnergyCounterReader.name), processor packages")
    }
    let share = seconds > 0 ? min(1, processorSeconds / (seconds * Double(cores))) : 1
    let busy = envelope.idleWatts + share * (envelope.fullLoadWatts - envelope.idleWatts)
    return DevicePower(
      idleWatts: envelope.idleWatts, busyWatts: max(envelope.idleWatts, busy),
      source: "estimated: processor time × the envelope '\(envelope.name)'")
  }

  private static func readings(_ files: SystemFiles) -> [EnergyReading] {
    SensorSnapshot.take(files, readers: [EnergyCounterReader()]).energies
  }

  private static func joules(_ now: [EnergyReading], since before: [EnergyReading]) -> Double {
    now.compactMap { reading in
      before.first { $0.sensor == reading.sensor }.flatMap { reading.watts(since: $0, seconds: 1) }
    }.reduce(0, +)
  }
}

import KelvinBasics
package import KelvinDevices
package import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
package import KelvinThermal

/// Measures the power of a device while it works. For the processor, energy counters are read over its turns; without
/// counters, power is estimated from processor time and the machine's envelope. For a card, its counter is read over a
/// separate stretch of work; without a counter, the power is a guess for the kind of device.
package struct PowerMeter {
  /// Seconds of work for a card. Its counter advances in steps of up to a tenth of a second, too coarse for single
  /// inferences.
  package static let stretchSeconds = 0.6

  private let counters: EnergyCounters
  private let envelope: ThermalEnvelope
  private let cores: Int
  private let info: DeviceInfo
  private let idle: IdlePower
  /// The names of this device's counters; empty when it has none.
  private let sensors: [String]
  private let clock: any MeasurementClock

  private var before: [EnergyReading] = []
  private var began = 0.0
  private var used = 0.0
  private var seconds = 0.0
  private var processorSeconds = 0.0
  private var joules = 0.0

  /// - Parameter idle: the idle power of every counter of the machine.
  package init(
    _ info: DeviceInfo, counters: EnergyCounters, envelope: ThermalEnvelope, cores: Int, idle: IdlePower,
    clock: any MeasurementClock
  ) {
    self.info = info
    self.counters = counters
    self.envelope = envelope
    self.cores = max(1, cores)
    self.idle = idle
    let own = idle.sensors.isEmpty ? [] : counters.readings(of: info.resource).map(\.sensor)
    sensors = own.filter { idle.sensors[$0] != nil }
    self.clock = clock
  }

  private var isProcessor: Bool { info.resource == "cpu" }

  /// Begins a turn or a card's stretch. The counters are read before the time starts, because a library may take
  /// milliseconds to read them.
  private mutating func start() {
    before = readings
    began = clock.now()
    used = ProcessorTime.ofProcess.seconds
  }

  private mutating func stop() {
    let passed = clock.now() - began
    processorSeconds += ProcessorTime.ofProcess.seconds - used
    seconds += passed
    for reading in readings {
      guard let earlier = before.first(where: { $0.sensor == reading.sensor }) else { continue }
      joules += reading.joules(since: earlier, seconds: passed) ?? 0
    }
  }

  /// Measures a turn of the processor; for a card only runs `work`.
  package mutating func turn<T, E: Error>(_ work: () throws(E) -> T) throws(E) -> T {
    guard isProcessor else { return try work() }
    start()
    defer { stop() }
    return try work()
  }

  /// Repeats `work` for `stretchSeconds` if a counter measures this card.
  package mutating func stretch<E: Error>(_ work: () throws(E) -> Void) throws(E) {
    guard !isProcessor, !sensors.isEmpty else { return }
    start()
    defer { stop() }
    let end = began + Self.stretchSeconds
    repeat { try work() } while clock.now() < end
  }

  package var power: DevicePower {
    if !sensors.isEmpty, seconds > 0, joules > 0 {
      let (idle, busy) = (idle.sum(of: sensors), joules / seconds)
      let isTold = busy > idle.watts + idle.doubt
      return DevicePower(
        idleWatts: idle.watts, busyWatts: isTold ? busy : idle.watts,
        source: "measured by \(sensors.sorted().joined(separator: ", "))"
          + (isTold
            ? "" : "; its work was not told from rest, which is known to ± \(HumanReadable.significant(idle.doubt)) W"))
    }
    guard isProcessor else {
      let guess = info.planningKind.powerGuess
      return DevicePower(
        idleWatts: guess.idle, busyWatts: guess.busy,
        source: "a guess for the kind of device (\(info.kind.rawValue)): no sensor here measures it")
    }
    let share = seconds > 0 ? min(1, processorSeconds / (seconds * Double(cores))) : 1
    let busy = envelope.idleWatts + share * (envelope.fullLoadWatts - envelope.idleWatts)
    return DevicePower(
      idleWatts: envelope.idleWatts, busyWatts: max(envelope.idleWatts, busy),
      source: "estimated: processor time × the envelope '\(envelope.name)'")
  }

  private var readings: [EnergyReading] { sensors.isEmpty ? [] : counters.readings(of: info.resource) }
}

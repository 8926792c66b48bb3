import Glibc
import KelvinBasics
import KelvinMeasurements
import KelvinThermal
import Synchronization
import TestSupport

/// A machine whose sensors change as its clock sleeps: a two-pole model that throttles at its limit, a temperature in
/// steps, and an energy counter that wraps. Readings are in files, or are read from the value itself, which is faster.
final class SimulatedMachine: MeasurementClock, SensorReader {
  static let name = "simulated"

  struct Traits {
    var envelope: ThermalEnvelope
    /// Whether sensors are files as the kernel lays them out.
    var hasFiles = false
    /// The resolution of the sensor, in degrees Celsius.
    var step = 1.0
    /// Standard deviation before that.
    var noise = 0.3
    /// Largest part of an interval by which a sleeper wakes late.
    var jitter = 0.3
    var showsTemperature = true
    var showsPower = true
    /// Of the shown temperature; 0 for a sensor that sits elsewhere.
    var coupling = 1.0
    /// The share of full power; 1 for a load of every unit.
    var load = 1.0
    /// After this many seconds the temperature has no reading.
    var silentAfter = Double.infinity
  }

  private struct State {
    var now = 1000.0
    var isLoaded = false
    var model: ThermalModel
    var joules: Double
    var generator: SeededGenerator
  }

  static let limit = 100.0
  static let room = 22.0
  /// Less than a minute at full load, as on 32-bit counters of large sockets.
  static let range = 4000.0

  let tree: FixtureTree
  private let temperatureFile: Int32
  private let energyFile: Int32
  let traits: Traits
  private let state: Mutex<State>

  init(_ traits: Traits, seed: UInt64) {
    self.traits = traits
    var layout = ["proc/cpuinfo": "processor : 0\nmodel name : Simulated\n"]
    let (chip, zone) = ("sys/class/hwmon/hwmon0", "sys/class/powercap/intel-rapl:0")
    if traits.hasFiles, traits.showsTemperature {
      layout["\(chip)/name"] = "coretemp\n"
      layout["\(chip)/temp1_label"] = "Package id 0\n"
      layout["\(chip)/temp1_crit"] = "\(Int(Self.limit * 1000))\n"
      layout["\(chip)/temp1_input"] = ""
    }
    if traits.hasFiles, traits.showsPower {
      layout["\(zone)/name"] = "package-0\n"
      layout["\(zone)/max_energy_range_uj"] = "\(Int(Self.range * 1e6))\n"
      layout["\(zone)/energy_uj"] = ""
    }
    tree = FixtureTree(layout)
    temperatureFile = open("\(tree.root)/\(chip)/temp1_input", O_WRONLY | O_CLOEXEC)
    energyFile = open("\(tree.root)/\(zone)/energy_uj", O_WRONLY | O_CLOEXEC)
    let envelope = traits.envelope
    // Not settled: what was done before has left the slow path warm.
    let idle = envelope.load(watts: envelope.idleWatts)
    let model = ThermalModel(fast: envelope.fast, slow: envelope.slow, fastRise: idle, slowRise: idle + 0.15)
    state = Mutex(State(model: model, joules: 0.9 * Self.range, generator: SeededGenerator(seed: seed)))
    state.withLock { show($0) }
  }

  deinit {
    for file in [temperatureFile, energyFile] where file >= 0 { close(file) }
  }

  func setLoad(_ isLoaded: Bool) { state.withLock { $0.isLoaded = isLoaded } }

  func now() -> Double { state.withLock(\.now) }

  func sleep(until time: Double) {
    state.withLock { state in
      guard time > state.now else { return }
      let late = state.generator.unit() * traits.jitter * CalibrationRecorder.interval
      let end = time + late
      let steps = 10
      let seconds = (end - state.now) / Double(steps)
      let envelope = traits.envelope
      for _ in 0..<steps {
        var watts =
          state.isLoaded
          ? envelope.idleWatts + traits.load * (envelope.fullLoadWatts - envelope.idleWatts) : envelope.idleWatts
        if state.isLoaded, state.model.headroom >= 0.99 { watts = min(watts, envelope.sustainableWatts) }
        watts *= 1 + 0.03 * (2 * state.generator.unit() - 1)
        state.model.advance(by: seconds, load: envelope.load(watts: watts))
        state.joules += watts * seconds
      }
      while state.joules > Self.range { state.joules -= Self.range }
      state.now = end
      show(state)
      // Noise of the next reading.
      _ = state.generator.next()
    }
  }

  /// Returns the current readings of the sensors: millidegrees and microjoules, nil without a reading.
  private func shown(_ state: State) -> (milli: Int?, micro: Int?) {
    var generator = state.generator
    let noise = traits.noise * 1.73 * (2 * generator.unit() - 1)
    let rise = (Self.limit - Self.room) * state.model.headroom * traits.coupling
    let celsius = ((Self.room + rise + noise) / traits.step).rounded(.down) * traits.step
    let isShown = traits.showsTemperature && state.now - 1000 <= traits.silentAfter
    return (isShown ? Int((celsius * 1000).rounded()) : nil, traits.showsPower ? Int(state.joules * 1e6) : nil)
  }

  private func show(_ state: State) {
    let (milli, micro) = shown(state)
    write(temperatureFile, milli)
    write(energyFile, micro)
  }

  private func write(_ descriptor: Int32, _ value: Int?) {
    guard descriptor >= 0 else { return }
    let bytes = Array((value.map { "\($0)\n" } ?? "").utf8)
    ftruncate(descriptor, 0)
    pwrite(descriptor, bytes, bytes.count, 0)
  }

  /// Returns the same readings as the readers of files.
  func read(_ files: SystemFiles, into snapshot: inout SensorSnapshot) {
    let (milli, micro) = state.withLock { shown($0) }
    if let milli {
      snapshot.temperatures.append(
        TemperatureReading(
          sensor: "hwmon coretemp \"Package id 0\"", domain: .processor, celsius: Double(milli) / 1000,
          limitCelsius: Self.limit))
    }
    if let micro {
      snapshot.energies.append(
        EnergyReading(sensor: "RAPL package-0", joules: Double(micro) / 1e6, rangeJoules: Self.range))
    }
  }

  var readers: [any SensorReader] { traits.hasFiles ? [HardwareMonitorReader(), EnergyCounterReader()] : [self] }

  var recorder: CalibrationRecorder { CalibrationRecorder(files: tree.files, clock: self, readers: readers) }

  var machine: MachineDescription { MachineDescription(tree.files) }

  /// Returns the result of a calibration.
  func calibrated(load: Double = CalibrationSchedule.usualLoad) throws -> ThermalCalibration {
    let recording = try recorder.record(CalibrationSchedule(load: load), setLoad: setLoad)
    return try ThermalCalibration(
      recording, name: "simulated", assuming: .desktop, machine: machine, date: "2026-01-01")
  }
}

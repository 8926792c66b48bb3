package import KelvinMeasurements

/// Runs a machine through a schedule of rest and load and records its temperature and power.
package struct CalibrationRecorder {
  /// Seconds between samples.
  package static let interval = 0.5

  private let files: SystemFiles
  private let clock: any MeasurementClock
  private let readers: [any SensorReader]
  private let isVirtualised: Bool

  /// - Parameter files: the roots of `/sys` and `/proc`.
  package init(
    files: SystemFiles = SystemFiles(), clock: any MeasurementClock = SystemClock(),
    readers: [any SensorReader] = sensorReaders
  ) {
    self.files = files
    self.clock = clock
    self.readers = readers
    isVirtualised = MachineDescription(files).isVirtualised
  }

  /// Returns the sensors that a recording would use: `hwmon coretemp "Package id 0" and RAPL package-0`.
  ///
  /// - Throws: `noTemperature`.
  package func sensors() throws(CalibrationError) -> String {
    let first = SensorSnapshot.take(files, readers: readers)
    let temperatures = first.temperatures.filter { $0.domain != .other }
    let powers = first.energies.map(\.sensor) + first.powers.filter { $0.domain != .other }.map(\.sensor)
    guard !temperatures.isEmpty else {
      throw .noTemperature(measuresPower: !powers.isEmpty, isVirtualised: isVirtualised)
    }
    let shown = temperatures.count == 1 ? temperatures[0].sensor : "\(temperatures.count) temperatures"
    return shown + (powers.isEmpty ? ", without any power" : " and \(powers.joined(separator: ", "))")
  }

  /// - Parameters:
  ///   - setLoad: starts and stops the load; called only when the load changes.
  ///   - look: called with the elapsed seconds and the phase; ends the recording by throwing.
  /// - Returns: the recording of the sensor that came nearest to its limit under load.
  /// - Throws: `CalibrationError.noTemperature`, or the errors of `setLoad` and `look`, after stopping the load.
  package func record(
    _ schedule: CalibrationSchedule, setLoad: (Bool) throws -> Void,
    look: (_ seconds: Double, _ phase: CalibrationSchedule.Phase) throws -> Void = { _, _ in }
  ) throws -> CalibrationRecording {
    _ = try sensors()
    var looks: [CalibrationLook] = []
    let began = clock.now()
    var isLoaded = false
    defer { if isLoaded { try? setLoad(false) } }
    var previous = SensorSnapshot.take(files, readers: readers)
    var at = 0.0
    while at < schedule.seconds {
      let phase = schedule.phase(at: at)
      if (phase == .load) != isLoaded {
        isLoaded.toggle()
        try setLoad(isLoaded)
      }
      try look(at, phase)
      clock.sleep(until: began + at + Self.interval)
      let now = clock.now() - began
      guard now > at else { continue }
      let sensors = SensorSnapshot.take(files, readers: readers)
      looks.append(CalibrationLook(sensors, since: previous, at: now, seconds: now - at, phase: phase))
      (previous, at) = (sensors, now)
    }
    guard let recording = CalibrationLook.recording(of: looks) else {
      throw CalibrationError.noTemperature(
        measuresPower: looks.contains { !$0.watts.isEmpty }, isVirtualised: isVirtualised)
    }
    return recording
  }
}

/// One sample of every sensor.
struct CalibrationLook {
  let at: Double
  let phase: CalibrationSchedule.Phase
  let temperatures: [TemperatureReading]
  /// The mean power since the previous sample, by domain.
  let watts: [SensorDomain: (watts: Double, sensor: String)]

  init(
    _ sensors: SensorSnapshot, since before: SensorSnapshot, at: Double, seconds: Double,
    phase: CalibrationSchedule.Phase
  ) {
    self.at = at
    self.phase = phase
    temperatures = sensors.temperatures.filter { $0.domain != .other }
    let measured = MeasuredPower(sensors, since: before, seconds: seconds)
    var watts: [SensorDomain: (watts: Double, sensor: String)] = [:]
    for domain in [SensorDomain.processor, .graphics] {
      if let power = measured.power(of: domain) { watts[domain] = power }
    }
    self.watts = watts
  }

  /// Returns the recording of the sensor that came nearest to its limit under load, relative to the distance from rest.
  /// It contains the power of the sensor's domain; for the skin, of all domains.
  static func recording(of looks: [CalibrationLook]) -> CalibrationRecording? {
    var seen: [String: TemperatureReading] = [:]
    for look in looks { for reading in look.temperatures { seen[reading.sensor] = reading } }
    let recordings = seen.values.sorted { $0.sensor < $1.sensor }.map { reading in
      let domains: [SensorDomain] = reading.domain == .skin ? [.processor, .graphics] : [reading.domain]
      let names = Set(looks.flatMap { look in domains.compactMap { look.watts[$0]?.sensor } }).sorted()
      return CalibrationRecording(
        sensor: reading.sensor, limitCelsius: reading.limitCelsius, limitIsAssumed: reading.limitIsAssumed,
        powerSensor: names.isEmpty ? nil : names.joined(separator: " + "),
        samples: looks.map { look in
          let parts = domains.compactMap { look.watts[$0]?.watts }
          return .init(
            at: look.at, celsius: look.temperatures.first { $0.sensor == reading.sensor }?.celsius,
            watts: parts.isEmpty ? nil : parts.reduce(0, +), phase: look.phase)
        })
    }
    func rise(_ recording: CalibrationRecording) -> Double {
      let recorded = Recorded(recording)
      let rest = recorded.settledCelsius(.rest)
      return (recorded.settledCelsius(.load) - rest) / max(recording.limitCelsius - rest, 1)
    }
    // Sensors that state a limit take precedence over those with an assumed one.
    let stated = recordings.filter { !$0.limitIsAssumed }
    return (stated.isEmpty ? recordings : stated).max { rise($0) < rise($1) }
  }
}

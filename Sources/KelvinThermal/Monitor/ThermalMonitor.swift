import KelvinBasics
package import KelvinMeasurements

/// Monitors the machine's heat with its best source, and names that source.
///
/// The order of sources is: temperature sensor, measured power, throttle counter or reason, clock probe, cpufreq,
/// model. The two-pole model always runs: it forecasts, and a measured headroom corrects it. A report contains degrees
/// only if a sensor measured them.
///
/// A sensor that stops answering, or gives an implausible value, is replaced by the next source. The model then
/// continues from the last headroom, and reports name the sensor in their remarks. A clock that is set back counts as
/// no elapsed time. After a jump forward, measured power is the mean over the jump.
package struct ThermalMonitor: Sendable {
  package let envelope: ThermalEnvelope
  package private(set) var model: ThermalModel
  package private(set) var probe: ClockProbe?
  /// The normalized power of the latest interval.
  package private(set) var load: Double

  private let files: SystemFiles
  private let readers: [any SensorReader]
  private var belief: ClockReliability
  private var filter: ThermalStateFilter?
  private var lastTime: Double?
  private var lastSensors = SensorSnapshot()
  private var lastCounters: ContentionCounters?
  private var answering: Set<String> = []

  /// - Parameters:
  ///   - files: the roots of `/sys` and `/proc`.
  ///   - readers: the sensor readers to use.
  ///   - envelope: the envelope of the machine's class, for the model when no sensor answers.
  ///   - probe: nil for no clock probe, which takes about a millisecond of one core for each sample.
  package init(
    files: SystemFiles = SystemFiles(), readers: [any SensorReader] = sensorReaders, envelope: ThermalEnvelope,
    probe: ClockProbe? = nil
  ) {
    self.files = files
    self.readers = readers
    self.envelope = envelope
    self.probe = probe
    belief = ClockReliability(isVirtualised: MachineDescription(files).isVirtualised)
    model = envelope.model()
    load = envelope.load(watts: envelope.idleWatts)
  }

  /// The state at the latest sample; nominal before the first.
  package var state: ThermalState { filter?.state ?? .nominal }

  /// Returns the headroom `seconds` from now at the present load.
  package func forecast(after seconds: Double) -> Double { model.forecast(after: seconds, load: load) }

  /// Reads the sensors and updates the state.
  ///
  /// - Parameters:
  ///   - now: seconds on the caller's clock; one that jumps back counts as no elapsed time.
  ///   - utilisation: the busy share of the machine since the last sample, if the caller knows it better than
  ///     `/proc/stat`.
  ///   - watts: the caller's estimate of the mean power since the last sample, used when no sensor measures it.
  package mutating func sample(at now: Double, utilisation: Double? = nil, watts: Double? = nil) -> ThermalReport {
    let sensors = SensorSnapshot.take(files, readers: readers)
    let counters = ContentionReader(files).counters()
    let stepsPerSecond = probe?.measure()
    return update(
      at: now, sensors: sensors, counters: counters, utilisation: utilisation, watts: watts,
      stepsPerSecond: stepsPerSecond)
  }

  /// Updates the state with the given readings.
  ///
  /// - Parameter stepsPerSecond: the clock probe's result.
  package mutating func update(
    at now: Double, sensors: SensorSnapshot, counters: ContentionCounters?, utilisation: Double? = nil,
    watts: Double? = nil, stepsPerSecond: Double? = nil
  ) -> ThermalReport {
    let now = now.isFinite ? now : lastTime ?? 0
    let elapsed = max(0, now - (lastTime ?? now))
    let contention = lastCounters.flatMap { before in
      counters.flatMap { ContentionReader.between(before, $0, seconds: elapsed) }
    }
    let busy = utilisation ?? contention?.utilisation
    let probed = believedProbe(stepsPerSecond, contention: contention)
    let clock = sensors.clocks.first { $0.domain == .processor }
    let shown = belief.ratio(clock, utilisation: busy, isCool: state == .nominal)
    let clockRatio = probed ?? shown
    let events = throttleEvents(sensors)
    let reasons = sensors.throttleReasons.filter(\.isHeat)
    let measured = MeasuredPower(sensors, since: lastSensors, seconds: elapsed)
    let estimated = watts ?? busy.map { envelope.watts(utilisation: $0, clockRatio: clockRatio ?? 1) }
    if let newLoad = measured.load(envelope: envelope, estimatedWatts: estimated) { load = newLoad }
    model.advance(by: elapsed, load: load)
    let hottest = Self.hottest(sensors.temperatures)
    if let hottest { model.correct(toHeadroom: hottest.headroom) }

    let fed = watts != nil ? "estimated power" : busy != nil ? "utilisation" : "idle power"
    let (source, description) = describe(
      hottest, measured, events, reasons, hasProbe: probed != nil, hasClock: shown != nil, fed: fed)
    // A temperature is more reliable than a clock, which also falls with the number of busy cores.
    let judgedClock = hottest == nil ? clockRatio ?? 1 : 1
    let floor: ThermalState = events > 0 || !reasons.isEmpty ? .serious : .nominal
    var filter =
      self.filter
      ?? ThermalStateFilter(
        state: max(ThermalStateFilter.classify(headroom: model.headroom, clockRatio: judgedClock), floor), at: now)
    let state = filter.update(at: now, headroom: model.headroom, clockRatio: judgedClock, floor: floor)
    self.filter = filter

    let remarks = sensors.remarks + remarks(on: sensors)
    lastTime = now
    lastSensors = sensors
    lastCounters = counters
    let remaining = model.timeToLimit(load: load)
    return ThermalReport(
      at: now, state: state, headroom: model.headroom, source: source, sourceDescription: description,
      celsius: hottest?.celsius, watts: measured.watts ?? estimated, clockRatio: clockRatio, contention: contention,
      throttleEvents: events, timeToLimit: remaining.isFinite ? remaining : nil,
      outlook: ThermalOutlook(
        model: model, idleWatts: envelope.idleWatts, sustainableWatts: envelope.sustainableWatts, load: load),
      remarks: remarks)
  }

  private func describe(
    _ hottest: TemperatureReading?, _ measured: MeasuredPower, _ events: Int, _ reasons: [ThrottleReason],
    hasProbe: Bool, hasClock: Bool, fed: String
  ) -> (ThermalSource, String) {
    let modelled = "two-pole model of the envelope \"\(envelope.name)\" fed with"
    if let hottest {
      let assumed = hottest.limitIsAssumed ? " (limit assumed)" : ""
      return (.sensor, "\(hottest.sensor), limit \(HumanReadable.significant(hottest.limitCelsius)) °C\(assumed)")
    }
    if let sensor = measured.sensor { return (.energy, "\(sensor), \(modelled) measured power") }
    if let reason = reasons.first {
      return (.throttleCounter, "\(reason.sensor): \(reason.reason), \(modelled) \(fed)")
    }
    if events > 0 { return (.throttleCounter, "throttle events, \(modelled) \(fed)") }
    if hasProbe { return (.clockProbe, "effective clock, \(modelled) \(fed)") }
    if hasClock { return (.clock, "cpufreq's clock, \(modelled) \(fed)") }
    return (.model, "\(modelled) \(fed)")
  }

  private mutating func believedProbe(_ stepsPerSecond: Double?, contention: Contention?) -> Double? {
    guard let stepsPerSecond else { return nil }
    if state == .nominal, contention?.isFlat ?? true {
      probe?.calibrate(stepsPerSecond: stepsPerSecond, contention: contention)
    }
    return probe?.ratio(stepsPerSecond: stepsPerSecond, contention: contention)
  }

  /// Returns the reading nearest to its limit. Disks, radios and batteries do not count, nor does a reading with an
  /// assumed limit if another one of its domain states a limit.
  private static func hottest(_ readings: [TemperatureReading]) -> TemperatureReading? {
    let stated = Set(readings.filter { !$0.limitIsAssumed }.map(\.domain))
    return readings.filter { $0.domain != .other && !($0.limitIsAssumed && stated.contains($0.domain)) }
      .max { $0.headroom < $1.headroom }
  }

  private func throttleEvents(_ sensors: SensorSnapshot) -> Int {
    guard let before = lastSensors.throttle, let now = sensors.throttle else { return 0 }
    return max(0, now.coreEvents - before.coreEvents) + max(0, now.packageEvents - before.packageEvents)
  }

  /// Returns remarks on sensors that stopped answering, and on power limits that lower a clock without heat.
  private mutating func remarks(on sensors: SensorSnapshot) -> [String] {
    let now = Set(
      sensors.temperatures.filter { $0.domain != .other }.map(\.sensor) + sensors.energies.map(\.sensor)
        + sensors.powers.map(\.sensor))
    let silent = answering.subtracting(now).sorted().map { "\($0) stopped answering" }
    answering.formUnion(now)
    return silent + sensors.throttleReasons.filter { !$0.isHeat }.map { "\($0.sensor): clock lowered by \($0.reason)" }
  }
}

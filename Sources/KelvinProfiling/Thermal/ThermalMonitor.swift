/// Where a statement about heat comes from, best first.
package enum ThermalSource: String, Sendable, Hashable, Codable {
  /// A temperature was read.
  case sensor
  /// Measured power feeds the model.
  case energy
  /// The hardware counted throttle events; how near the limit is, the model says.
  case throttleCounter = "throttle counter"
  /// The effective clock is known; how near the limit is, the model says.
  case clockProbe = "clock probe"
  /// The model, fed with utilisation or estimated power: an estimate.
  case model
}

/// One look at the heat of the machine.
package struct ThermalReport: Sendable, Hashable, Codable {
  /// Seconds on the caller's clock.
  package var at: Double
  package var state: ThermalState
  /// 1.0 is the limit; may exceed it.
  package var headroom: Double
  package var source: ThermalSource
  /// The source in words: the sensor's name, or the model's envelope and what feeds it.
  package var sourceDescription: String
  /// Only when a sensor measured it.
  package var celsius: Double?
  /// Measured or estimated, as `source` says; nil when only a temperature is known.
  package var watts: Double?
  /// Effective over reference clock, while it can be told from contention.
  package var clockRatio: Double?
  package var contention: Contention?
  /// Throttle events since the report before.
  package var throttleEvents: Int
  /// Seconds until the limit at the present load, by the model; nil when it will not be reached.
  package var timeToLimit: Double?
  /// For asking what another load would do from here.
  package var outlook: ThermalOutlook?
  /// What limits trust in this report: counters that may not be read, sensors that stopped answering.
  package var remarks: [String]

  package init(
    at: Double, state: ThermalState, headroom: Double, source: ThermalSource, sourceDescription: String,
    celsius: Double? = nil, watts: Double? = nil, clockRatio: Double? = nil, contention: Contention? = nil,
    throttleEvents: Int = 0, timeToLimit: Double? = nil, outlook: ThermalOutlook? = nil,
    remarks: [String] = []
  ) {
    self.at = at
    self.state = state
    self.headroom = headroom
    self.source = source
    self.sourceDescription = sourceDescription
    self.celsius = celsius
    self.watts = watts
    self.clockRatio = clockRatio
    self.contention = contention
    self.throttleEvents = throttleEvents
    self.timeToLimit = timeToLimit
    self.outlook = outlook
    self.remarks = remarks
  }
}

/// Watches the machine's heat with the best source it has, and names that source.
///
/// Order: temperature sensor, energy counter, throttle counter, clock probe, model. The two-pole model always runs
/// along: it forecasts, and a measured headroom corrects it. Never gives degrees unless something measured degrees.
package struct ThermalMonitor: Sendable {
  package let envelope: ThermalEnvelope
  package private(set) var model: ThermalModel
  package private(set) var probe: ClockProbe?
  /// Normalised power of the latest interval.
  package private(set) var load: Double

  private let files: SystemFiles
  private var filter: ThermalStateFilter
  private var lastTime: Double?
  private var lastSensors = SensorSnapshot()
  private var lastCounters: ContentionCounters?

  /// - Parameters:
  ///   - files: where `/sys` and `/proc` are.
  ///   - envelope: of the machine's class; the model uses it wherever no sensor answers.
  ///   - probe: nil to leave the clock probe out; it costs about a millisecond of one core for each sample.
  package init(files: SystemFiles = SystemFiles(), envelope: ThermalEnvelope, probe: ClockProbe? = nil) {
    self.files = files
    self.envelope = envelope
    self.probe = probe
    model = envelope.model()
    load = envelope.load(watts: envelope.idleWatts)
    filter = ThermalStateFilter()
  }

  package var state: ThermalState { filter.state }

  /// Headroom `seconds` from now if the present load goes on.
  package func forecast(after seconds: Double) -> Double { model.forecast(after: seconds, load: load) }

  /// Reads the machine and brings everything up to date.
  /// - Parameters:
  ///   - now: seconds on the caller's clock; one that jumps back is taken as no time passed.
  ///   - utilisation: busy share of the machine since the last sample, where the caller knows it better than
  ///     `/proc/stat`.
  ///   - watts: the caller's estimate of the mean power since the last sample, used where nothing measures it.
  package mutating func sample(at now: Double, utilisation: Double? = nil, watts: Double? = nil) -> ThermalReport {
    let sensors = SensorSnapshot.take(files)
    let counters = ContentionReader(files).counters()
    let stepsPerSecond = probe?.measure()
    return update(
      at: now, sensors: sensors, counters: counters, utilisation: utilisation, watts: watts,
      stepsPerSecond: stepsPerSecond)
  }

  /// As `sample`, with everything read handed in.
  /// - Parameter stepsPerSecond: the clock probe's result.
  package mutating func update(
    at now: Double, sensors: SensorSnapshot, counters: ContentionCounters?, utilisation: Double? = nil,
    watts: Double? = nil, stepsPerSecond: Double? = nil
  ) -> ThermalReport {
    let elapsed = max(0, now - (lastTime ?? now))
    let contention = lastCounters.flatMap { before in
      counters.flatMap { ContentionReader.between(before, $0, seconds: elapsed) }
    }
    let clockRatio = believedClockRatio(stepsPerSecond, contention: contention)
    let events = throttleEvents(sensors)
    let measured = measuredPower(sensors, elapsed: elapsed)
    let busy = utilisation ?? contention?.utilisation
    let estimated = watts ?? busy.map { envelope.watts(utilisation: $0, clockRatio: clockRatio ?? 1) }
    let power = measured?.watts ?? estimated
    if let power { load = power / (measured?.limit ?? envelope.sustainableWatts) }
    model.advance(by: elapsed, load: load)

    let hottest = Self.hottest(sensors.temperatures)
    if let hottest { model.correct(toHeadroom: hottest.headroom) }

    let source: ThermalSource
    let description: String
    let fed = watts != nil ? "estimated power" : busy != nil ? "utilisation" : "idle power"
    let modelled = "two-pole model of the envelope \"\(envelope.name)\" fed with"
    if let hottest {
      source = .sensor
      let assumed = hottest.limitIsAssumed ? " (limit assumed)" : ""
      description = "\(hottest.sensor), limit \(HumanReadable.significant(hottest.limitCelsius)) °C\(assumed)"
    } else if let measured {
      source = .energy
      description = "\(measured.sensor), \(modelled) measured power"
    } else if events > 0 {
      source = .throttleCounter
      description = "throttle events, \(modelled) \(fed)"
    } else if clockRatio != nil {
      source = .clockProbe
      description = "effective clock, \(modelled) \(fed)"
    } else {
      source = .model
      description = "\(modelled) \(fed)"
    }
    let state = filter.update(
      at: now, headroom: model.headroom, clockRatio: clockRatio ?? 1, floor: events > 0 ? .serious : .nominal)

    lastTime = max(now, lastTime ?? now)
    lastSensors = sensors
    lastCounters = counters
    let remaining = model.timeToLimit(load: load)
    return ThermalReport(
      at: now, state: state, headroom: model.headroom, source: source, sourceDescription: description,
      celsius: hottest?.celsius, watts: power, clockRatio: clockRatio, contention: contention, throttleEvents: events,
      timeToLimit: remaining.isFinite ? remaining : nil)
  }

  private mutating func believedClockRatio(_ stepsPerSecond: Double?, contention: Contention?) -> Double? {
    guard let stepsPerSecond else { return nil }
    if filter.state == .nominal, contention?.isFlat ?? true { probe?.calibrate(stepsPerSecond: stepsPerSecond) }
    return probe?.ratio(stepsPerSecond: stepsPerSecond, contention: contention)
  }

  /// The reading nearest its limit. Disks, radios and batteries do not count, nor does a reading with an assumed limit
  /// where another of the same part states one.
  private static func hottest(_ readings: [TemperatureReading]) -> TemperatureReading? {
    let stated = Set(readings.filter { !$0.limitIsAssumed }.map(\.domain))
    return readings.filter { $0.domain != .other && !($0.limitIsAssumed && stated.contains($0.domain)) }
      .max { $0.headroom < $1.headroom }
  }

  private func throttleEvents(_ sensors: SensorSnapshot) -> Int {
    guard let before = lastSensors.throttle, let now = sensors.throttle else { return 0 }
    return max(0, now.coreEvents - before.coreEvents) + max(0, now.packageEvents - before.packageEvents)
  }

  private func measuredPower(
    _ sensors: SensorSnapshot, elapsed: Double
  ) -> (watts: Double, limit: Double?, sensor: String)? {
    var watts = 0.0
    var limit: Double? = 0
    var sensor: String?
    for reading in sensors.energies {
      guard let before = lastSensors.energies.first(where: { $0.sensor == reading.sensor }),
        let mean = reading.watts(since: before, seconds: elapsed)
      else { continue }
      watts += mean
      limit = limit.flatMap { sum in reading.limitWatts.map { sum + $0 } }
      sensor = sensor ?? reading.sensor
    }
    return sensor.map { (watts, limit, $0) }
  }
}

import KelvinBasics
package import KelvinMeasurements

/// The thermal properties of a recorded machine: its envelope, and the uncertainty of each coefficient.
package struct ThermalCalibration: Sendable, Hashable {
  package let envelope: ThermalEnvelope
  package let fit: TwoPoleFit
  /// Limits of the calibration, in words.
  package let remarks: [String]

  /// The least rise from which a path can be determined, in kelvin, for a sensor that resolves fractions of a degree.
  private static let leastRise = 2.0
  /// The relative uncertainty of the slow time constant above which the recording was too short.
  private static let widest = 0.25
  /// Seconds at the beginning of the load before any machine throttles.
  private static let unthrottled = 10.0

  /// - Parameters:
  ///   - name: the envelope's name.
  ///   - envelope: the envelope of the machine's class, for watts that were not measured.
  ///   - machine: the recorded machine.
  ///   - date: the date of the recording.
  /// - Throws: an error that describes the recording; an uncertain envelope is never returned.
  package init(
    _ recording: CalibrationRecording, name: String, assuming envelope: ThermalEnvelope, machine: MachineDescription,
    date: String
  ) throws(CalibrationError) {
    let fit = try Self.fit(recording, envelope)
    let recorded = Recorded(recording)
    let isMeasured = recording.powerSensor != nil
    let (idle, full) =
      isMeasured
      ? (recorded.watts(.rest), recorded.watts(.load, first: Self.unthrottled))
      : (Watts(envelope.idleWatts), Watts(envelope.fullLoadWatts))
    guard fit.limitWatts > idle.median, full.median > idle.median else {
      throw .otherShape(sensor: recording.sensor, residual: fit.residual)
    }
    var remarks: [String] = []
    if recording.limitIsAssumed {
      remarks.append("\(recording.sensor) states no limit: \(Self.degrees(recording.limitCelsius)) is assumed")
    }
    if !isMeasured {
      remarks.append(
        "nothing measured power: watts are those of the class \"\(envelope.name)\"; time constants and weights do not"
          + " depend on them")
    }
    if fit.fastWeightInterval.lower <= 0.01 || fit.fastWeightInterval.upper >= 0.99 {
      remarks.append("one path alone would explain the recording as well: the time constant of the other is uncertain")
    }
    if fit.fast.tau <= TwoPoleFit.fastRange.lowerBound {
      remarks.append("the fast path takes \(HumanReadable.seconds(fit.fast.tau)) or less: no reading is quicker")
    }
    self.fit = fit
    self.remarks = remarks
    var calibrated = ThermalEnvelope(
      name: name, summary: "Calibrated \(date): \(machine.summary).",
      fast: ThermalPole(weight: fit.fastWeight, tau: fit.fast.tau),
      slow: ThermalPole(weight: 1 - fit.fastWeight, tau: fit.slow.tau), idleWatts: idle.median,
      sustainableWatts: fit.limitWatts, fullLoadWatts: full.median,
      sources: Self.sources(recording, fit, recorded, idle, full, envelope))
    calibrated.calibratedOn = machine.hardware
    self.envelope = calibrated
  }

  private static func fit(
    _ recording: CalibrationRecording, _ envelope: ThermalEnvelope
  ) throws(CalibrationError) -> TwoPoleFit {
    let (load, sensor) = (recording.loadSeconds, recording.sensor)
    let missing = Double(recording.samples.count { $0.celsius == nil }) / Double(max(recording.samples.count, 1))
    guard missing <= CalibrationRecording.maximumMissing else { throw .sensorLost(sensor: sensor, share: missing) }
    guard load >= CalibrationSchedule.shortestLoad * 0.9 else {
      throw .tooShort(
        seconds: load, needed: CalibrationSchedule.usualLoad,
        reason: "the slow path of a machine cannot be seen by then")
    }
    let recorded = Recorded(recording)
    let needed = max(leastRise, 4 * recorded.step)
    let (atRest, atLoad) = (recorded.settledCelsius(.rest), recorded.settledCelsius(.load))
    guard atLoad - atRest >= needed else {
      throw .unmoved(sensor: sensor, atRest: atRest, atLoad: atLoad, needed: needed)
    }
    if recording.powerSensor == nil, recorded.hottest >= recording.limitCelsius - max(1, recorded.step) {
      throw .throttled(sensor: sensor, celsius: recorded.hottest, limit: recording.limitCelsius)
    }
    let watts = recording.watts(assuming: envelope)
    let shown = recording.samples.indices.filter { recording.samples[$0].celsius != nil }
    // Power continues while the sensor does not answer, so its mean bridges gaps.
    let fit = TwoPoleFit(
      times: shown.map { recording.samples[$0].at }, watts: means(recording, watts, upTo: shown),
      celsius: shown.map { recording.samples[$0].celsius ?? 0 }, limitCelsius: recording.limitCelsius)
    guard let fit, fit.residual <= max(recorded.step, 0.1 * (atLoad - atRest)) else {
      throw .otherShape(sensor: sensor, residual: fit?.residual)
    }
    let slow = fit.slow
    let half = (slow.tauInterval.upper - slow.tauInterval.lower) / 2 / slow.tau
    guard slow.tau < TwoPoleFit.slowRange.upperBound else {
      throw .tooShort(
        seconds: load, needed: max(2 * TwoPoleFit.slowRange.upperBound, 1.5 * load),
        reason: "the slow path takes \(HumanReadable.seconds(slow.tau)) or more as far as it can be told by then")
    }
    guard load >= slow.tau / 2, half <= widest else {
      throw .tooShort(
        seconds: load, needed: min(max(1.25 * slow.tau, 1.5 * load), 2 * TwoPoleFit.slowRange.upperBound),
        reason: "the slow path takes \(HumanReadable.seconds(slow.tau))"
          + " (\(HumanReadable.seconds(slow.tauInterval.lower)) to \(HumanReadable.seconds(slow.tauInterval.upper)))"
          + " as far as it can be told by then")
    }
    return fit
  }

  /// Returns the mean watts between each of these samples and the previous one.
  private static func means(_ recording: CalibrationRecording, _ watts: [Double], upTo shown: [Int]) -> [Double] {
    var means: [Double] = []
    var next = 0
    for index in shown {
      var (joules, seconds) = (0.0, 0.0)
      for passed in next...index {
        let duration = passed > 0 ? recording.samples[passed].at - recording.samples[passed - 1].at : 0
        joules += watts[passed] * duration
        seconds += duration
      }
      means.append(seconds > 0 ? joules / seconds : watts[index])
      next = index + 1
    }
    return means
  }

  private static func sources(
    _ recording: CalibrationRecording, _ fit: TwoPoleFit, _ recorded: Recorded, _ idle: Watts, _ full: Watts,
    _ envelope: ThermalEnvelope
  ) -> [String: String] {
    func range(_ interval: ConfidenceInterval, _ write: (Double) -> String) -> String {
      "\(write(interval.lower)) to \(write(interval.upper)) with \(HumanReadable.percent(interval.confidence, decimals: 0))"
    }
    let power = recording.powerSensor.map { "power of \($0)" } ?? "the watts of the class \"\(envelope.name)\""
    let series =
      "two-pole fit of \(recording.sensor) to \(power) over \(HumanReadable.seconds(recorded.seconds)),"
      + " \(HumanReadable.significant(fit.residual)) °C off in the mean"
    let limit = degrees(recording.limitCelsius) + (recording.limitIsAssumed ? " (assumed)" : "")
    func watts(_ value: Watts, _ what: String) -> String {
      guard let sensor = recording.powerSensor else { return "assumed: the class \"\(envelope.name)\"" }
      return "measured: median of \(sensor) \(what); \(HumanReadable.significant(value.lower)) to"
        + " \(HumanReadable.significant(value.upper)) W in 95 % of the readings"
    }
    return [
      "fast.weight": "measured: \(range(fit.fastWeightInterval, { HumanReadable.fixed($0, decimals: 2) })); \(series)",
      "slow.weight": "1 − fast.weight",
      "fast.tau": "measured: \(range(fit.fast.tauInterval, HumanReadable.seconds)); \(series)",
      "slow.tau": "measured: \(range(fit.slow.tauInterval, HumanReadable.seconds)); \(series)",
      "idleWatts": watts(idle, "at rest, including all other work"),
      "sustainableWatts":
        "\(recording.powerSensor == nil ? "assumed where watts are" : "measured"): settles at the limit of \(limit)"
        + " from \(degrees(fit.zeroPowerCelsius)) without power; \(range(fit.limitWattsInterval, HumanReadable.significant))"
        + " W, for the room as warm as it was; a set power limit may allow less",
      "fullLoadWatts": watts(full, "in the first \(HumanReadable.seconds(unthrottled)) of full load"),
    ]
  }

  private static func degrees(_ celsius: Double) -> String { "\(HumanReadable.fixed(celsius, decimals: 1)) °C" }
}

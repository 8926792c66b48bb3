import KelvinBasics
import KelvinGraph
import KelvinMeasurements
import KelvinReport
import KelvinRuntime
import KelvinStreams
import KelvinThermal

extension BenchmarkRunner {
  /// Prepares each configuration's stream for its governor and for simulated heat. The variants of the stream are timed
  /// in turns, and the governor gets a ladder of those that save energy.
  func prepareStreams(_ candidates: [BenchmarkCandidate]) throws {
    guard workload.isGoverned || options.simulatedHeat != nil else { return }
    for candidate in candidates {
      live.advance(0, candidate.configuration.label, what: "timing cheaper variants")
      try attempt(candidate) { try prepareStream(candidate) }
    }
  }

  private func prepareStream(_ candidate: BenchmarkCandidate) throws {
    let context = subject.context
    var ways = try context.streamVariants(
      candidate.explanation, precision: candidate.configuration.request.precision, threads: candidate.threads)
    // Other plans and threads may round differently.
    if !workload.isGoverned || options.isDeterministic { ways = [ways[0]] }
    var meter = EnergyMeter(
      counters: EnergyCounters(files: files), envelope: envelope, cores: machine.logicalCores, idle: idlePower,
      clock: clock)
    let trial = try StreamTrial(
      ways, in: context, inputs: { _ in subject.inputs[0] }, framesPerSecond: workload.framesPerSecond,
      cores: machine.logicalCores, on: envelope, clock: clock,
      cancellation: options.cancellation,
      meter: { devices, work in
        meter.start()
        try work()
        let use = meter.stop(devices: devices)
        return use.isMeasured ? use.joules.map { .init(joules: $0, source: use.source) } : nil
      },
      compile: { try candidate.compiled($0) })
    // The governor's watts must be those of the machine whose heat it sees.
    let plans = trial.entries.map(\.plan).map { plan in
      options.simulatedHeat.map { simulated in
        StreamPlan.carriedOver(
          label: plan.label, secondsPerFrame: plan.secondsPerFrame, joules: plan.joulesPerFrame,
          source: plan.energySource, isMeasured: trial.isEnergyMeasured, remark: plan.remark, on: machine,
          from: envelope, to: simulated.envelope)
      } ?? plan
    }
    let ladder = try StreamLadder(
      choosingAmong: plans, framesPerSecond: workload.framesPerSecond, queue: workload.queue,
      options: workload.isGoverned ? .init() : .init(rates: [], switchesPlans: false, dropsBacklog: false))
    try candidate.take(ladder, of: trial, governed: workload.isGoverned)
    journal.add(.ladder(configuration: candidate.index, ladder: ladder))
    for remark in trial.remarks { journal.add(.note("\(candidate.configuration.label): \(remark)")) }
    if workload.isGoverned, ladder.labels.count == 1 {
      journal.add(
        .note(
          "\(candidate.configuration.label): the governor knows no variant that saves energy; it lowers the rate"))
    }
    if let simulated = options.simulatedHeat {
      candidate.heat = try SimulatedHeat(envelope: simulated.envelope, speed: simulated.speed)
      candidate.simulatedWatts = plans.reduce(into: [:]) { $0[$1.label] = $1.watts }
    }
  }
}

extension BenchmarkCandidate {
  /// Creates the sessions of a ladder's plans; the preferred plan keeps the session of this configuration.
  func take(_ ladder: StreamLadder, of trial: StreamTrial, governed: Bool) throws {
    plans = try ladder.labels.enumerated().map { index, label in
      if index == 0, let session { return (label, session) }
      guard let entry = trial.entries.first(where: { $0.plan.label == label }) else {
        preconditionFailure("a ladder consists of the variants that were timed")
      }
      return (label, try entry.model.makeSession())
    }
    if governed { governor = Governor(ladder) }
  }

  /// Records the heat after a frame, simulated if this configuration has simulated heat. The governor receives every
  /// report, the journal the latest.
  ///
  /// - Parameters:
  ///   - time: seconds of the configuration's stream.
  ///   - report: this machine's report, if one was due.
  /// - Returns: the latest report; nil when there is none.
  func watchHeat(at time: Double, frame: FrameSlice.Frame?, _ report: ThermalReport?) -> ThermalReport? {
    guard heat != nil else {
      guard let report else { return nil }
      record(report, at: time, governedAt: time)
      return report
    }
    if let frame { heat?.add(seconds: frame.service, watts: simulatedWatts[plans[frame.plan ?? 0].label] ?? 0) }
    let reports = heat?.advance(to: time) ?? []
    for (number, report) in reports.enumerated() {
      record(report, at: time, governedAt: report.at, isKept: number == reports.count - 1)
    }
    return reports.last
  }

  /// - Parameters:
  ///   - time: seconds of the configuration's stream, the time of reports and actions in the journal.
  ///   - moment: seconds on the clock by which the governor measures delays.
  private func record(_ report: ThermalReport, at time: Double, governedAt moment: Double, isKept: Bool = true) {
    if isKept {
      let kept = ReportSeries.Heat(
        at: time, state: report.state, headroom: report.headroom, clockRatio: report.clockRatio, watts: report.watts)
      journal.add(
        .heat(configuration: index, heat: kept, source: report.sourceDescription, remarks: report.remarks.sorted()))
    }
    var report = report
    report.at = moment
    guard var action = governor?.update(report) else { return }
    action.at = time
    journal.add(.action(configuration: index, action: action))
  }
}

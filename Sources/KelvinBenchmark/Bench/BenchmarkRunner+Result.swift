import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinProfiling
import KelvinRuntime

extension BenchmarkRunner {
  func result(
    _ contestants: [Contestant], agreementRemark: String, kelvinVersion: String
  ) throws -> BenchmarkResult {
    let labels = contestants.map(\.configuration.label)
    let isPaced = workload.kind == .stream
    let results = try contestants.map { contestant in
      let request = contestant.configuration.request
      return ConfigurationResult(
        label: contestant.configuration.label, explanation: contestant.explanation,
        plan: try subject.context.plan(contestant.explanation, request), trial: contestant.trial,
        devices: contestant.devices.map(\.id), starts: contestant.starts, compileUncached: contestant.compileUncached,
        warm: try LatencyStatistics(contestant.warm.flatMap { $0 }),
        warmDrift: ThroughputDrift.backToBack(latencies: contestant.warm.flatMap { $0 }),
        weights: contestant.weights, sustained: try contestant.sustained(isPaced: isPaced),
        thermal: contestant.heat.map(\.state).max(),
        thermalSource: contestant.thermalSource, windows: contestant.windows,
        disturbedWindows: contestant.disturbedWindows, agreement: contestant.agreement,
        agreementRemark: agreementRemark, trace: try contestant.trace(subject.inputs[0]))
    }
    let medians = contestants.map { $0.warm.map { (try? LatencyStatistics($0).median) ?? 0 } }
    let plans = Self.planNumbers(contestants)
    guard let start = Finding(contestants.map { $0.starts.map(\.total) }, plans: plans),
      let warm = Finding(medians, plans: plans, isDisturbed: disturbedRounds)
    else { throw BenchmarkError.invalidRequest("nothing was measured") }
    let load = sustainedFinding(contestants, plans: plans)
    let verdict = Verdict(labels: labels, start: start, warm: warm, load: load)
    describe(contestants, warm: warm, agreementRemark: agreementRemark)
    return BenchmarkResult(
      kelvinVersion: kelvinVersion, machine: machine, model: ReportModel(subject.context, format: subject.format),
      workload: workload,
      devices: reportDevices(contestants), configurations: results, verdict: verdict,
      comparisons: comparisons(load?.deciding ?? warm, labels), notes: notes)
  }

  /// For each configuration the first one with the same placement, precision and threads.
  private static func planNumbers(_ contestants: [Contestant]) -> [Int] {
    contestants.indices.map { index in
      let (solution, request) = (contestants[index].explanation.solution, contestants[index].configuration.request)
      return contestants.indices.first { other in
        let (theirs, asked) = (contestants[other].explanation.solution, contestants[other].configuration.request)
        return theirs.placement == solution.placement && asked.precision == request.precision
          && asked.threads == request.threads
      } ?? index
    }
  }

  private func sustainedFinding(_ contestants: [Contestant], plans: [Int]) -> SustainedFinding? {
    let latencies = contestants.map { contestant in
      contestant.slices.map { (try? LatencyStatistics($0.frames.map(\.latency)).median) ?? .infinity }
    }
    guard workload.kind != .oneShot,
      let served = Finding(
        contestants.map { $0.slices.map(\.secondsPerFrame) }, plans: plans, isDisturbed: disturbedSlices),
      let latency = Finding(latencies, plans: plans, isDisturbed: disturbedSlices)
    else { return nil }
    return SustainedFinding(
      framesPerSecond: workload.kind == .stream ? workload.framesPerSecond : nil, served: served, latency: latency,
      droppedShare: contestants.map { contestant in
        let dropped = contestant.slices.reduce(0) { $0 + $1.dropped }
        let served = contestant.slices.reduce(0) { $0 + $1.frames.count }
        return Double(dropped) / Double(max(dropped + served, 1))
      })
  }

  /// `1.8 × slower than cpu-only (1.7 to 1.9)`.
  private func comparisons(_ finding: Finding, _ labels: [String]) -> [String] {
    finding.comparisons.indices.map { index in
      if index == finding.best { return "" }
      guard let comparison = finding.comparisons[index] else { return "too few rounds to compare" }
      guard comparison.verdict == .slower, !finding.tied.contains(index) else {
        return "no difference measured to \(labels[finding.best])"
      }
      func text(_ value: Double) -> String { HumanReadable.significant(value) }
      let range = "\(text(comparison.interval.lower)) to \(text(comparison.interval.upper))"
      return "\(text(comparison.ratio)) × slower than \(labels[finding.best]) (\(range))"
    }
  }

  private func describe(_ contestants: [Contestant], warm: Finding, agreementRemark: String) {
    let count = contestants.count
    if count > 1 {
      notes.append("configurations took turns, the order changing each time, and are compared round by round")
    }
    for (index, first) in Self.planNumbers(contestants).enumerated() where first != index {
      let (label, other) = (contestants[index].configuration.label, contestants[first].configuration.label)
      notes.append("\(label) and \(other) run the same plan: any difference between them is noise")
    }
    notes.append(
      subject.reload == nil
        ? "reading the model was timed once" : "each start read the model with its files forgotten by the page cache")
    if subject.hasMadeUpInputs { notes.append("inputs were made up; give real ones with --input") }
    if !agreementRemark.isEmpty {
      notes.append("agreement with the reference device was not measured: \(agreementRemark)")
    }
    for contestant in contestants {
      if let trial = contestant.trial { notes.append("\(contestant.configuration.label): \(trial.reason)") }
      let helpers = Set(contestant.devices.map(\.id))
      if case .devices(let asked) = contestant.configuration.request.units, !helpers.isSubset(of: asked) {
        let help = contestant.explanation.solution.placement.values.count { !asked.contains($0) }
        notes.append("\(contestant.configuration.label): \(help) nodes run elsewhere because it cannot run them")
      }
    }
    let energy = Set(contestants.map(\.energySource)).subtracting([""]).sorted()
    if !energy.isEmpty { notes.append("energy \(energy.joined(separator: "; "))") }
    let disturbed = contestants.reduce(0) { $0 + $1.disturbedWindows }
    let windows = contestants.reduce(0) { $0 + $1.windows }
    if disturbed > 0 {
      notes.append(
        "\(disturbed) of \(windows) time windows saw contention for the processors (steal or pressure: other processes,"
          + " or a driver with more threads than processors)"
          + (warm.disturbed > 0 ? "; disturbed rounds were left out of the comparison" : "; too many to leave out"))
    }
  }

  private func reportDevices(_ contestants: [Contestant]) -> [ReportDevice] {
    let host = subject.context.inventory.host.info.id
    let used = Set(
      contestants.flatMap { $0.devices.map(\.id) }
        + contestants.flatMap { contestant in
          contestant.explanation.nodes.flatMap { $0.candidates.filter { $0.seconds != nil }.map(\.device) }
        }
    ).union([host])
    return subject.context.inventory.devices.map(\.info).filter { used.contains($0.id) }.map { ReportDevice($0) }
  }
}

import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinReport
import KelvinRuntime

extension BenchmarkRunner {
  func result(
    _ contestants: [Contestant], agreementRemark: String, kelvinVersion: String, interruption: String?
  ) throws -> BenchmarkResult {
    let labels = contestants.map(\.configuration.label)
    let results = try contestants.map { try result($0, agreementRemark: agreementRemark) }
    // Who failed is not compared; the others keep their places in the result.
    let able = contestants.indices.filter { contestants[$0].failure == nil }
    let rivals = able.map { contestants[$0] }
    let plans = try planNumbers(rivals)
    let start = finding(.start, rivals.map { $0.starts.map(\.total) }, plans)
    let warm = finding(.warm, rivals.map(\.warmMedians), plans)
    let load = sustainedFinding(rivals, plans)
    var verdict = Verdict(
      labels: rivals.map(\.configuration.label), start: start, warm: warm, load: load, situation: workload.situation,
      interruption: interruption)
    var comparisons = [String](repeating: "", count: contestants.count)
    if let deciding = load?.deciding ?? warm ?? start {
      for (text, index) in zip(Self.comparisons(deciding, rivals.map(\.configuration.label)), able) {
        comparisons[index] = text
      }
    }
    for index in contestants.indices where contestants[index].failure != nil {
      comparisons[index] = "failed: \(contestants[index].failure ?? "")"
    }
    verdict.winner = verdict.winner.map { able[$0] }
    verdict.best = able.indices.contains(verdict.best) ? able[verdict.best] : 0
    try describe(contestants, labels, agreementRemark: agreementRemark, interruption: interruption)
    return BenchmarkResult(
      kelvinVersion: kelvinVersion, machine: machine, model: ReportModel([subject.context], format: subject.format),
      workload: workload, devices: reportDevices(contestants), configurations: results, verdict: verdict,
      comparisons: comparisons, notes: notes, interruption: interruption,
      disturbedRounds: logs.mapValues { log in Set(log.isDisturbed.indices.filter { log.isDisturbed[$0] }) })
  }

  /// A configuration's numbers, of the rounds that count.
  private func result(_ contestant: Contestant, agreementRemark: String) throws -> ConfigurationResult {
    func kept<Value>(_ phase: BenchmarkSample.Phase, _ rounds: [Value]) -> [Value] {
      guard let log = logs[phase] else { return rounds }
      return log.kept.filter { rounds.indices.contains($0) }.map { rounds[$0] }
    }
    let warm = kept(.warm, contestant.warm).flatMap { $0 }
    let isPaced = workload.kind == .stream
    let hasRun = contestant.failure == nil && contestant.session != nil && !contestant.warm.isEmpty
    return ConfigurationResult(
      label: contestant.configuration.label, explanation: contestant.explanation,
      plan: try subject.context.plan(contestant.explanation, contestant.configuration.request),
      trial: contestant.trial, devices: contestant.devices.map(\.id), threads: contestant.threads,
      coldStarts: kept(.coldStart, contestant.coldStarts), starts: kept(.start, contestant.starts),
      warm: try? LatencyStatistics(warm), earlyStopping: warm.isEmpty ? nil : EarlyStopping(warm),
      warmDrift: ThroughputDrift.backToBack(latencies: warm), weights: contestant.weights,
      sustained: contestant.sustained(isPaced: isPaced), thermal: contestant.heat.map(\.state).max(),
      thermalSource: contestant.thermalSource, contention: contestant.contention, agreement: contestant.agreement,
      agreementRemark: agreementRemark, trace: hasRun ? (try? contestant.trace(subject.inputs[0])) ?? [] : [],
      samples: contestant.samples, failure: contestant.failure)
  }

  private func finding(_ phase: BenchmarkSample.Phase, _ rounds: [[Double]], _ plans: [Int]) -> Finding? {
    Finding(
      rounds, plans: plans, isDisturbed: logs[phase]?.isDisturbed ?? [], level: level(of: phase),
      isComplete: completed.contains(phase))
  }

  /// The share of runs in which a phase may name a false winner: all questions of a benchmark together, at each of the
  /// looks at their rounds, have `Finding.level` (Bonferroni).
  func level(of phase: BenchmarkSample.Phase) -> Double {
    // The first answer and warm latency; of a stream the frames answered and their latency, else the rate.
    let questions =
      switch workload.kind {
      case .oneShot: 2
      case .throughput: 3
      case .stream: 4
      }
    return Finding.level / Double(questions * (phase == .sustained ? 1 : RoundLog.looks))
  }

  /// For each configuration the first one that computes the same in the same places with as many threads.
  func planNumbers(_ contestants: [Contestant]) throws -> [Int] {
    try contestants.indices.map { index in
      let (solution, request) = (contestants[index].explanation.solution, contestants[index].configuration.request)
      return try contestants.indices.first { other in
        let (theirs, asked) = (contestants[other].explanation.solution, contestants[other].configuration.request)
        guard theirs.placement == solution.placement, asked.threads == request.threads else { return false }
        let context = subject.context
        return try context.node(tellingApart: asked.precision, request.precision, placement: theirs.placement) == nil
      } ?? index
    }
  }

  private func sustainedFinding(_ contestants: [Contestant], _ plans: [Int]) -> SustainedFinding? {
    let latencies = contestants.map { contestant in
      contestant.slices.map { (try? LatencyStatistics($0.frames.map(\.latency)).median) ?? .infinity }
    }
    guard workload.kind != .oneShot,
      let served = finding(.sustained, contestants.map { $0.slices.map(\.secondsPerFrame) }, plans),
      let latency = finding(.sustained, latencies, plans)
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
  private static func comparisons(_ finding: Finding, _ labels: [String]) -> [String] {
    finding.comparisons.indices.map { index in
      if index == finding.best { return "" }
      guard let comparison = finding.comparisons[index] else {
        return "not compared" + (finding.refusal.map { ": \($0)" } ?? "")
      }
      guard comparison.verdict == .slower, !finding.tied.contains(index) else {
        return "no difference measured to \(labels[finding.best])"
      }
      func text(_ value: Double) -> String { HumanReadable.significant(value) }
      let range = "\(text(comparison.interval.lower)) to \(text(comparison.interval.upper))"
      return "\(text(comparison.ratio)) × slower than \(labels[finding.best]) (\(range))"
    }
  }

  private func describe(
    _ contestants: [Contestant], _ labels: [String], agreementRemark: String, interruption: String?
  ) throws {
    if let interruption {
      notes.insert("\(interruption): this report is of what had been measured by then", at: 0)
    }
    if !workload.situation.isEmpty {
      notes.append("the verdict is for a machine with \(workload.situation); costs were planned for that")
    }
    if contestants.count > 1 {
      notes.append("configurations took turns, the order changing each time, and are compared round by round")
    }
    for (index, first) in try planNumbers(contestants).enumerated() where first != index {
      notes.append("\(labels[index]) and \(labels[first]) run the same plan: any difference between them is noise")
    }
    for (label, contestant) in zip(labels, contestants) {
      let remarks = try subject.context.remarks(on: contestant.explanation, contestant.configuration.request)
      notes += remarks.map { "\(label): \($0)" }
    }
    notes.append(
      subject.starter != nil
        ? "each start was a process of its own; for cold ones Kelvin's and the drivers' caches were empty, and the"
          + " model's files were forgotten by the page cache"
        : "starts were made within this process, with the devices open; cold ones found no compiled weights"
          + (subject.reload == nil ? ", and reading the model was timed once" : ""))
    notes.append(singleStreamNote(contestants))
    if subject.hasMadeUpInputs { notes.append("inputs were made up; give real ones with --input") }
    if !agreementRemark.isEmpty {
      notes.append("agreement with the reference device was not measured: \(agreementRemark)")
    }
    for contestant in contestants {
      let label = contestant.configuration.label
      if let trial = contestant.trial { notes.append("\(label): \(trial.reason)") }
      if case .devices(let asked) = contestant.configuration.request.units,
        !Set(contestant.devices.map(\.id)).isSubset(of: asked)
      {
        let help = contestant.context.nodesByDevice(contestant.explanation.solution.placement)
          .filter { !asked.contains($0.key) }.values.reduce(0, +)
        notes.append("\(label): \(help) nodes run elsewhere because it cannot run them")
      }
      if contestant.threads < contestant.configuration.request.threads {
        notes.append("\(label): \(contestant.threads) of \(contestant.configuration.request.threads) CPU threads")
      }
      if let pipeline = contestant.pipeline { notes.append("\(label): \(Self.text(pipeline))") }
    }
    let energy = Set(contestants.map(\.energySource)).subtracting([""]).sorted()
    if !energy.isEmpty { notes.append("energy \(energy.joined(separator: "; "))") }
    let remarks = contestants.reduce(into: Set<String>()) { $0.formUnion($1.thermalRemarks) }
    if !remarks.isEmpty { notes.append("heat: \(remarks.sorted().prefix(6).joined(separator: "; "))") }
    describeContention(contestants)
  }

  /// What the warm part fulfils of MLPerf's rules.
  private func singleStreamNote(_ contestants: [Contestant]) -> String {
    let rule =
      "warm inferences follow MLPerf's SingleStream: the next begins when the last is done, until at least"
      + " \(workload.iterations) are made in at least \(HumanReadable.seconds(workload.warmSeconds)); the metric is the"
      + " 90th percentile, and what may be claimed of it with 99 % confidence is by LoadGen's early stopping (binomial)"
    let isFull = workload.iterations >= 1024 && workload.warmSeconds >= 60
    return rule + (isFull ? "" : "; this is a quick run: MLPerf asks for 1024 queries in 60 s")
  }

  private static func text(_ pipeline: ConfigurationResult.Pipeline) -> String {
    let rate = HumanReadable.perSecond
    var text = "\(pipeline.inFlight) in flight"
    if !pipeline.attempts.isEmpty {
      text += " (tried " + pipeline.attempts.map { "\($0.inFlight): \(rate($0.rate))" }.joined(separator: ", ") + ")"
    }
    if let bottleneck = pipeline.bottleneck, bottleneck.seconds > 0 {
      text +=
        "; by the plan \(bottleneck.resource) is the bottleneck, with \(HumanReadable.seconds(bottleneck.seconds)) a"
        + " frame, at most \(rate(1 / bottleneck.seconds))"
    }
    return text
  }

  private func describeContention(_ contestants: [Contestant]) {
    let windows = contestants.reduce(0) { $0 + $1.contention.windows }
    guard windows > 0 else { return }
    let disturbed = contestants.reduce(0) { $0 + $1.contention.disturbed }
    func mean(_ share: (ContentionSummary) -> Double?) -> Double? {
      let known = contestants.compactMap { contestant in
        share(contestant.contention).map { ($0, contestant.contention) }
      }
      let count = known.reduce(0) { $0 + $1.1.windows }
      return count > 0 ? known.reduce(0) { $0 + $1.0 * Double($1.1.windows) } / Double(count) : nil
    }
    let percent = { (share: Double) in HumanReadable.percent(share) }
    var shares = ["steal \(percent(mean(\.steal) ?? 0))"]
    if let neighbours = mean(\.neighbours) { shares.append("other processes \(percent(neighbours))") }
    if let pressure = mean(\.pressure) {
      shares.append("some task waited \(percent(pressure)) of the time, this process's own included")
    }
    notes.append("processors: " + shares.joined(separator: ", "))
    let extra = logs.values.reduce(0) { $0 + max(0, $1.isDisturbed.count - $1.planned) }
    let rounds = logs.values.reduce(0) { $0 + $1.isDisturbed.count }
    let lost = logs.values.reduce(0) { $0 + $1.isDisturbed.count { $0 } }
    if disturbed > 0 || lost > 0 {
      let isHopeless = logs.values.contains { $0.kept.count == $0.isDisturbed.count && $0.isDisturbed.contains(true) }
      notes.append(
        "others took processor time in \(disturbed) of \(windows) time windows; \(lost) of \(rounds) rounds were"
          + " disturbed, \(extra) repeated"
          + (isHopeless ? "; where too few quiet ones remained all count" : ", and the disturbed ones do not count"))
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
    return subject.context.inventory.devices(named: used).map { ReportDevice($0.info) }
  }
}

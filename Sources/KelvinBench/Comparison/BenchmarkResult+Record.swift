import KelvinBasics
import KelvinMeasurements
import KelvinReport

extension BenchmarkResult {
  /// Evaluates a record. The same record gives the same result, during a run or from a journal.
  package init(_ record: BenchmarkRecord) {
    let (all, workload) = (record.configurations, record.benchmark.workload)
    let results = all.map { ConfigurationResult($0, record) }
    // Failed configurations are not compared, but keep their index in the result.
    let able = all.indices.filter { all[$0].failure == nil }
    func finding(
      _ phase: BenchmarkSample.Phase, _ rounds: (BenchmarkRecord.Configuration) -> [Double],
      _ shown: (ConfigurationResult) -> Double?
    ) -> Finding? {
      let rounds = able.map { rounds(all[$0]) }
      guard rounds.allSatisfy({ !$0.isEmpty }) else { return nil }
      return Finding(
        rounds, shown: able.map { shown(results[$0]) ?? .infinity }, plans: able.map { all[$0].setup.samePlanAs },
        isDisturbed: record.phases[phase]?.isDisturbed ?? [], level: workload.level(of: phase),
        isComplete: record.phases[phase]?.isComplete ?? false)
    }
    let start = finding(.start, { $0.starts.map(\.total) }, \.total)
    let warm = finding(.warm, \.warmMedians, \.warm?.p50)
    var load: SustainedFinding?
    if workload.kind != .oneShot,
      let served = finding(
        .sustained, { $0.slices.map(\.secondsPerFrame) }, { $0.sustained.map { 1 / max($0.throughput, 1e-9) } }),
      let latency = finding(
        .sustained, { $0.slices.map { (try? LatencyStatistics($0.frames.map(\.latency)).median) ?? .infinity } },
        \.sustained?.latency.p50)
    {
      load = SustainedFinding(
        framesPerSecond: workload.kind == .stream ? workload.framesPerSecond : nil,
        isOfTokens: workload.kind == .tokens, served: served, latency: latency,
        outcomes: able.map { results[$0].sustained.map { SustainedOutcome($0) } ?? SustainedOutcome() })
    }
    var verdict = Verdict(
      labels: able.map { all[$0].setup.label }, start: start, warm: warm, load: load, scenario: workload.scenario,
      interruption: record.interruption)
    var comparisons = [String](repeating: "", count: all.count)
    if let finding = load?.deciding ?? warm ?? start {
      for (text, index) in zip(Self.comparisons(finding, able.map { all[$0].setup.label }), able) {
        comparisons[index] = text
      }
    }
    for index in all.indices { all[index].failure.map { comparisons[index] = "failed: \($0)" } }
    verdict.winner = verdict.winner.map { able[$0] }
    verdict.best = able.indices.contains(verdict.best) ? able[verdict.best] : 0
    let labels = able.map { all[$0].setup.label }
    let questions = [
      (ComparedQuestion.Subject.start, start), (.warm, warm), (.served, load?.served),
      (.latency, workload.kind == .stream ? load?.latency : nil),
    ].compactMap { subject, finding in
      finding.map { ComparedQuestion(subject: subject, finding: $0, labels: labels) }
    }
    let considered = Set(all.flatMap(\.setup.considered))
    self.init(
      kelvinVersion: record.benchmark.kelvinVersion, date: record.benchmark.date, machine: record.benchmark.machine,
      model: record.benchmark.model,
      workload: workload, simulatedHeat: record.benchmark.simulatedHeat,
      devices: record.benchmark.devices.filter { considered.contains($0.id) },
      configurations: results, verdict: verdict, comparisons: comparisons,
      questions: questions,
      notes: Self.notes(record), interruption: record.interruption,
      disturbedRounds: record.phases.mapValues { phase in
        Set(phase.isDisturbed.indices.filter { phase.isDisturbed[$0] })
      })
  }

  /// Returns clauses such as `1.8 × slower than cpu-only (1.7 to 1.9)`.
  private static func comparisons(_ finding: Finding, _ labels: [String]) -> [String] {
    finding.comparisons.indices.map { index in
      if index == finding.best { return "" }
      guard let comparison = finding.comparisons[index], comparison.verdict != .notCompared else {
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
}

extension ConfigurationResult {
  /// Computes a configuration's statistics from the rounds that count.
  init(_ configuration: BenchmarkRecord.Configuration, _ record: BenchmarkRecord) {
    func kept<Value>(_ phase: BenchmarkSample.Phase, _ rounds: [Value]) -> [Value] {
      guard let phase = record.phases[phase] else { return rounds }
      return phase.kept.filter { rounds.indices.contains($0) }.map { rounds[$0] }
    }
    let warm = kept(.warm, configuration.warm).flatMap { $0 }
    let setup = configuration.setup
    let starts = kept(.start, configuration.starts)
    let slices = kept(.sustained, configuration.slices)
    let statistics = try? LatencyStatistics(warm)
    let sustained = configuration.sustained(record.benchmark.workload.kind)
    let figures = [
      Figure(.start, (try? LatencyStatistics(starts.map(\.total)))?.median, rounds: starts.map(\.total)),
      Figure(.warm, statistics?.p50, rounds: kept(.warm, configuration.warmMedians)),
      Figure(.served, sustained.map { 1 / max($0.throughput, 1e-9) }, rounds: slices.map(\.secondsPerFrame)),
      Figure(
        .latency, sustained?.latency.p50,
        rounds: slices.compactMap { try? LatencyStatistics($0.frames.map(\.latency)).median }),
    ]
    self.init(
      label: setup.label, solution: setup.solution, plan: setup.plan, trial: setup.tried, devices: setup.devices,
      threads: setup.threads, coldStarts: kept(.coldStart, configuration.coldStarts),
      starts: starts, warm: statistics,
      earlyStopping: warm.isEmpty ? nil : EarlyStopping(warm),
      warmDrift: ThroughputDrift.backToBack(latencies: warm), weights: configuration.weights,
      sustained: sustained,
      tokens: TokenFigures(
        configuration.runs, tokens: record.benchmark.workload.tokens, memory: configuration.memory),
      thermal: configuration.heat.map(\.state).max(), thermalSource: configuration.thermalSource,
      contention: configuration.contention, agreement: configuration.agreement,
      agreementRemark: record.agreementRemark, trace: configuration.trace, samples: configuration.samples,
      figures: figures.compactMap { $0 }, failure: configuration.failure)
  }
}

extension Workload {
  /// The probability with which a phase may name a false winner. All questions of a benchmark, at each evaluation of
  /// their rounds, share `Finding.level` (Bonferroni correction).
  func level(of phase: BenchmarkSample.Phase) -> Double {
    // The questions are the first answer and warm latency. A stream adds the rate and the latency of frames; throughput
    // and tokens add the rate.
    let questions =
      switch kind {
      case .oneShot: 2
      case .throughput, .tokens: 3
      case .stream: 4
      }
    return Finding.level / Double(questions * (phase == .sustained ? 1 : RoundLog.looks))
  }
}

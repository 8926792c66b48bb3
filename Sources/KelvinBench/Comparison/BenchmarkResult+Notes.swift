import KelvinBasics
import KelvinPlanning

extension BenchmarkResult {
  /// The notes of a result: how it was measured, disturbances and missing measurements.
  static func notes(_ record: BenchmarkRecord) -> [String] {
    let (all, workload) = (record.configurations, record.benchmark.workload)
    let labels = all.map(\.setup.label)
    var notes: [String] = []
    if let interruption = record.interruption {
      notes.append("\(interruption): this report covers the measurements until then")
    }
    notes += record.notes
    if !workload.scenario.isEmpty {
      notes.append("the verdict is for a machine with \(workload.scenario); costs were planned for that")
    }
    if all.count > 1 {
      notes.append("configurations took turns, the order changing each time, and are compared round by round")
    }
    for (index, first) in all.map(\.setup.samePlanAs).enumerated() where first != index {
      notes.append("\(labels[index]) and \(labels[first]) run the same plan: any difference between them is noise")
    }
    notes += record.benchmark.notes
    notes.append(workload.kind == .tokens ? tokensNote : singleStreamNote(workload))
    if !record.agreementRemark.isEmpty {
      notes.append("agreement with the reference device was not measured: \(record.agreementRemark)")
    }
    for configuration in all {
      notes += configuration.setup.notes.map { "\(configuration.setup.label): \($0)" }
      if let pipeline = configuration.pipeline { notes.append("\(configuration.setup.label): \(text(pipeline))") }
    }
    let energy = Set(all.compactMap { $0.energy.last?.source }).subtracting([""]).sorted()
    if !energy.isEmpty { notes.append("energy \(energy.joined(separator: "; "))") }
    let remarks = all.reduce(into: Set<String>()) { $0.formUnion($1.thermalRemarks) }
    if !remarks.isEmpty { notes.append("heat: \(remarks.sorted().prefix(6).joined(separator: "; "))") }
    return notes + contention(record)
  }

  /// Returns a note on how far the warm measurements follow MLPerf's rules.
  private static func singleStreamNote(_ workload: Workload) -> String {
    let rule =
      "warm inferences follow MLPerf's SingleStream: the next begins when the last is done, until at least"
      + " \(workload.iterations) are made in at least \(HumanReadable.seconds(workload.warmSeconds)); the metric is the"
      + " 90th percentile, and what may be claimed of it with 99 % confidence is by LoadGen's early stopping (binomial)"
    let isFull = workload.iterations >= 1024 && workload.warmSeconds >= 60
    return rule + (isFull ? "" : "; this is a quick run: MLPerf asks for 1024 queries in 60 s")
  }

  private static let tokensNote =
    "a prompt is read at once if the model allows it, then one token at a time, the most probable one; one-shot is"
    + " the first sequence after loading, sustained are the sequences that follow without a pause; plans and"
    + " compilations are counted for sizes that are new since the model was loaded"

  private static func text(_ pipeline: ConfigurationResult.Pipeline) -> String {
    let rate = HumanReadable.perSecond
    var text = "\(pipeline.inFlight) in flight"
    if !pipeline.attempts.isEmpty {
      text += " (tried " + pipeline.attempts.map { "\($0.inFlight): \(rate($0.rate))" }.joined(separator: ", ") + ")"
    }
    if let shares = pipeline.shares {
      text +=
        "; \(shares.count) plans share the frames, "
        + shares.map { HumanReadable.percent($0, decimals: 0) }.joined(separator: ", ")
    }
    if let bottleneck = pipeline.bottleneck, bottleneck.seconds > 0 {
      text +=
        "; by the plan \(bottleneck.resource) is the bottleneck, with \(HumanReadable.seconds(bottleneck.seconds)) a"
        + " frame, at most \(rate(1 / bottleneck.seconds))"
    }
    return text
  }

  private static func contention(_ record: BenchmarkRecord) -> [String] {
    let (summaries, phases) = (record.configurations.map(\.contention), record.phases.values)
    let windows = summaries.reduce(0) { $0 + $1.windows }
    guard windows > 0 else { return [] }
    let disturbed = summaries.reduce(0) { $0 + $1.disturbed }
    func mean(_ share: (ContentionSummary) -> Double?) -> Double? {
      let known = summaries.compactMap { summary in share(summary).map { ($0, summary.windows) } }
      let count = known.reduce(0) { $0 + $1.1 }
      return count > 0 ? known.reduce(0) { $0 + $1.0 * Double($1.1) } / Double(count) : nil
    }
    let percent = { (share: Double) in HumanReadable.percent(share) }
    var shares = ["steal \(percent(mean(\.steal) ?? 0))"]
    if let neighbours = mean(\.neighbours) { shares.append("other processes \(percent(neighbours))") }
    if let pressure = mean(\.pressure) {
      shares.append("some process waited for \(percent(pressure)) of the time, this one included")
    }
    var notes = ["processors: " + shares.joined(separator: ", ")]
    let extra = phases.reduce(0) { $0 + max(0, $1.isDisturbed.count - $1.planned) }
    let rounds = phases.reduce(0) { $0 + $1.isDisturbed.count }
    let lost = phases.reduce(0) { $0 + $1.isDisturbed.count { $0 } }
    if disturbed > 0 || lost > 0 {
      let isHopeless = phases.contains { $0.kept.count == $0.isDisturbed.count && $0.isDisturbed.contains(true) }
      notes.append(
        "other processes took processor time in \(disturbed) of \(windows) time windows; \(lost) of \(rounds) rounds"
          + " were disturbed, \(extra) repeated"
          + (isHopeless ? "; all rounds count where too few quiet ones remain" : ", and disturbed rounds do not count"))
    }
    return notes
  }
}

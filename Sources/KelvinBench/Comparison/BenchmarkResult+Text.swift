import KelvinBasics
import KelvinMeasurements
import KelvinReport
import KelvinRuntime
import KelvinStreams
import KelvinThermal

extension BenchmarkResult {
  /// The output of `kelvin bench` for people, line by line: starts, warm latency, the sustained load, the verdict.
  package var lines: [String] {
    var lines =
      "\(model.name): \(workload.description)".wrapped(hangingIndent: 2)
      + (simulatedHeat.map { "heat is \($0.text)".wrapped(hangingIndent: 2) } ?? [])
      + machine.reportSummary.wrapped(hangingIndent: 2) + [""] + startTable
    if configurations.contains(where: { $0.warm != nil }) { lines += [""] + warmTable }
    if configurations.contains(where: { $0.sustained != nil }) { lines += [""] + sustainedTable }
    lines += configurations.flatMap { configuration in
      configuration.tokens.map { [""] + $0.lines(of: configuration.label) } ?? []
    }
    let weights = configurations.compactMap { one in one.weights.map { "weights for \(one.label): \($0.text)" } }
    let failures = configurations.compactMap { one in one.failure.map { "\(one.label) failed: \($0)" } }
    lines += (weights + failures).flatMap { $0.wrapped(hangingIndent: 2) }
    let decays = configurations.compactMap { configuration in
      configuration.sustained?.fit.map { fit in
        let isDisturbed = fit.finding != .noDecay && configuration.disturbedWindows * 4 > configuration.windows
        return "\(configuration.label): \(Self.describe(fit))"
          + (isDisturbed ? "; the processors were contended meanwhile, so this need not be heat" : "")
      }
    }
    lines += decays.listed(under: "Over time")
    let trials = configurations.filter { $0.trial != nil }
    for configuration in trials { lines += [""] + Self.trialTable(configuration) }
    let actions = configurations.flatMap { configuration in
      (configuration.sustained?.actions ?? []).map {
        "\(configuration.label) at \(HumanReadable.seconds($0.at)): \($0.text)"
      }
    }
    lines += actions.listed(under: simulatedHeat == nil ? "Governor" : "Governor, on simulated heat") + ladderLines
    let energies = configurations.indices.compactMap { index in
      energy(of: index).map { "\(configurations[index].label) \($0)" }
    }
    if !energies.isEmpty {
      lines += [""] + ("Energy per inference: " + energies.joined(separator: ", ")).wrapped(hangingIndent: 2)
    }
    lines += notes.listed(under: "Notes") + [""] + verdict.sentences.flatMap { $0.wrapped() }
    if let earlier { lines += [""] + Self.table(earlier) }
    if let simulation { lines += [""] + simulation.lines }
    return lines
  }

  private static func table(_ earlier: RunComparison) -> [String] {
    TextTable(
      of: earlier.entries,
      [
        "Against \(earlier.name)": { "\($0.configuration), \($0.figure.rawValue)" },
        "earlier": { HumanReadable.seconds($0.earlier) }, "now": { HumanReadable.seconds($0.now) },
        "ratio": { HumanReadable.fixed($0.ratio, decimals: 2) },
        "verdict": { $0.verdict.rawValue + ($0.isRegression ? ", a regression" : "") },
      ]
    ).lines(width: 80)
  }

  /// The table of times to the first answer: with empty caches, with filled caches, and the parts of the latter.
  private var startTable: [String] {
    let seconds = HumanReadable.seconds
    return TextTable(
      of: configurations,
      [
        "Starts": mark, "cold": { seconds($0.coldTotal) }, "cached": { seconds($0.total) },
        "launch": { seconds($0.launch.flatMap { $0 > 0 ? $0 : nil }) }, "load": { seconds($0.load) },
        "compile": { seconds($0.compile) }, "inference": { seconds($0.first) },
      ]
    ).lines(width: 80, leavingOut: ["launch"])
  }

  /// The table of warm latencies and of agreement with the reference device. `claimed` is the 90th percentile that
  /// MLPerf's early stopping allows to claim.
  private var warmTable: [String] {
    let seconds = HumanReadable.seconds
    return TextTable(
      of: configurations.filter { $0.warm != nil },
      [
        "Warm": mark, "n": { "\($0.warm?.count ?? 0)" }, "p50": { seconds($0.warm?.p50) },
        "p90": { seconds($0.warm?.p90) }, "claimed": { $0.earlyStopping?.estimate.map(seconds) ?? "too few" },
        "p99": { seconds($0.warm?.p99) }, "top-1": { HumanReadable.percent($0.agreement?.top1, decimals: 0) },
        "largest Δ": { HumanReadable.significant($0.agreement?.largestDifference) },
        "mean Δ": { HumanReadable.significant($0.agreement?.meanDifference) },
      ]
    ).lines(width: 80, leavingOut: ["p99", "n"])
  }

  private var sustainedTable: [String] {
    let seconds = HumanReadable.seconds
    let table = TextTable(
      of: configurations.compactMap { configuration in configuration.sustained.map { (configuration, $0) } },
      [
        Self.heading(workload.kind): { mark($0.0) },
        "one-shot": { $0.1.reading == nil ? "" : seconds($0.0.warm?.p50) },
        "reading": { $0.1.reading.map { seconds($0.p50) } ?? "" },
        "rate": { HumanReadable.perSecond($0.1.throughput) },
        "p50": { seconds($0.1.latency.p50) }, "p90": { seconds($0.1.latency.p90) },
        "p99": { seconds($0.1.latency.p99) }, "dropped": { workload.kind == .stream ? "\($0.1.dropped)" : "" },
        "first": { seconds($0.1.first?.p50) }, "last": { seconds($0.1.last?.p50) },
        "drift": { $0.1.drift.map { HumanReadable.fixed($0, decimals: 2) } ?? "—" },
        "heat": { $0.0.thermal?.name ?? "—" },
      ])
    let hasEnds = configurations.contains { $0.sustained?.first != nil }
    let ends = hasEnds ? ["first, last: medians of the first and of the last round alone"] : []
    let sources = Set(configurations.map(\.thermalSource)).subtracting([""]).sorted()
    return table.lines(width: 80, leavingOut: ["p99", "drift"]) + ends
      + sources.flatMap { "heat from: \($0)".wrapped(hangingIndent: 2) }
  }

  private static func heading(_ kind: Workload.Kind) -> String {
    switch kind {
    case .stream: "Stream"
    case .tokens: "Tokens"
    case .oneShot, .throughput: "Throughput"
    }
  }

  private static func trialTable(_ configuration: ConfigurationResult) -> [String] {
    guard let trial = configuration.trial else { return [] }
    return TextTable(
      of: trial.entries.enumerated(),
      [
        "Plans tried for '\(configuration.label)'": { ($0.offset == trial.chosen ? "* " : "  ") + $0.element.label },
        "predicted": { HumanReadable.seconds($0.element.predicted) },
        "measured p50": { HumanReadable.seconds($0.element.seconds) },
        "n": { "\($0.element.samples)" },
      ]
    ).lines(width: 80, leavingOut: ["n"])
  }

  private static func describe(_ fit: DecayFit) -> String {
    guard fit.finding != .noDecay else { return fit.finding.rawValue }
    let seconds = HumanReadable.seconds
    return "\(fit.finding.rawValue): \(seconds(fit.initial)) to \(seconds(fit.settled)), τ \(seconds(fit.timeConstant))"
      + ", stability \(HumanReadable.fixed(fit.stability, decimals: 2))" + (fit.hasSettled ? "" : ", not settled")
  }

  private func mark(_ configuration: ConfigurationResult) -> String {
    guard let winner = verdict.winner, configurations.count > 1 else { return configuration.label }
    return (configurations[winner].label == configuration.label ? "* " : "  ") + configuration.label
  }

  /// Returns `2.3 × that of cpu`, preceded by measured millijoules if there are any; nil when both are unknown.
  func energy(of index: Int) -> String? {
    let joules = configurations[index].sustained?.measuredEnergy?.text
    let ratio = relativeEnergy(of: index).map {
      "\(HumanReadable.significant($0.ratio)) × that of \($0.reference)" + (joules == nil ? " (estimated)" : "")
    }
    let parts = [joules, ratio].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

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
      + machine.reportSummary.wrapped(hangingIndent: 2) + [
        ""
      ]
    lines += startTable
    if configurations.contains(where: { $0.warm != nil }) { lines += [""] + warmTable }
    if configurations.contains(where: { $0.sustained != nil }) { lines += [""] + sustainedTable }
    for configuration in configurations {
      guard let tokens = configuration.tokens else { continue }
      lines += [""] + tokens.lines(of: configuration.label)
    }
    for configuration in configurations {
      guard let weights = configuration.weights else { continue }
      lines += "weights for \(configuration.label): \(weights.text)".wrapped(hangingIndent: 2)
    }
    for configuration in configurations {
      guard let failure = configuration.failure else { continue }
      lines += "\(configuration.label) failed: \(failure)".wrapped(hangingIndent: 2)
    }
    let decays = configurations.compactMap { configuration in
      configuration.sustained?.fit.map { fit in
        let isDisturbed = fit.finding != .noDecay && configuration.disturbedWindows * 4 > configuration.windows
        return "\(configuration.label): \(Self.describe(fit))"
          + (isDisturbed ? "; the processors were contended meanwhile, so this need not be heat" : "")
      }
    }
    if !decays.isEmpty { lines += ["", "Over time"] + decays.flatMap { "- \($0)".wrapped(hangingIndent: 2) } }
    let trials = configurations.filter { $0.trial != nil }
    for configuration in trials { lines += [""] + Self.trialTable(configuration) }
    let actions = configurations.flatMap { configuration in
      (configuration.sustained?.actions ?? []).map { "\(configuration.label) at \(text($0.at)): \($0.text)" }
    }
    if !actions.isEmpty {
      lines +=
        ["", simulatedHeat == nil ? "Governor" : "Governor, on simulated heat"]
        + actions.flatMap { "- \($0)".wrapped(hangingIndent: 2) }
    }
    lines += ladderLines
    let energies = configurations.indices.compactMap { index in
      energy(of: index).map { "\(configurations[index].label) \($0)" }
    }
    if !energies.isEmpty {
      lines += [""] + ("Energy per inference: " + energies.joined(separator: ", ")).wrapped(hangingIndent: 2)
    }
    lines += ["", "Notes"] + notes.flatMap { "- \($0)".wrapped(hangingIndent: 2) }
    lines += [""] + verdict.sentences.flatMap { $0.wrapped() }
    if let earlier { lines += [""] + Self.table(earlier) }
    if let simulation { lines += [""] + simulation.lines }
    return lines
  }

  private static func table(_ earlier: RunComparison) -> [String] {
    var table = TextTable(numbers: ["Against \(earlier.name)", "earlier", "now", "ratio", "verdict"])
    for entry in earlier.entries {
      table.add([
        "\(entry.configuration), \(entry.figure.rawValue)", HumanReadable.seconds(entry.earlier),
        HumanReadable.seconds(entry.now), HumanReadable.fixed(entry.ratio, decimals: 2),
        entry.verdict.rawValue + (entry.isRegression ? ", a regression" : ""),
      ])
    }
    return table.lines(width: 80, leavingOut: [])
  }

  /// The table of times to the first answer: with empty caches, with filled caches, and the parts of the latter.
  private var startTable: [String] {
    var table = TextTable(numbers: ["Starts", "cold", "cached", "launch", "load", "compile", "inference"])
    for configuration in configurations {
      table.add([
        mark(configuration), text(configuration.coldTotal), text(configuration.total),
        text(configuration.launch.flatMap { $0 > 0 ? $0 : nil }), text(configuration.load), text(configuration.compile),
        text(configuration.first),
      ])
    }
    return table.lines(width: 80, leavingOut: ["launch"])
  }

  /// The table of warm latencies and of agreement with the reference device. `claimed` is the 90th percentile that
  /// MLPerf's early stopping allows to claim.
  private var warmTable: [String] {
    var table = TextTable(numbers: ["Warm", "n", "p50", "p90", "claimed", "p99", "top-1", "largest Δ", "mean Δ"])
    for configuration in configurations {
      guard let warm = configuration.warm else { continue }
      let agreement = configuration.agreement
      table.add([
        mark(configuration), "\(warm.count)", text(warm.p50), text(warm.p90),
        configuration.earlyStopping?.estimate.map { text($0) } ?? "too few", text(warm.p99),
        agreement?.top1.map { HumanReadable.percent($0, decimals: 0) } ?? "—",
        agreement.map { HumanReadable.significant($0.largestDifference) } ?? "—",
        agreement.map { HumanReadable.significant($0.meanDifference) } ?? "—",
      ])
    }
    return table.lines(width: 80, leavingOut: ["p99", "n"])
  }

  private var sustainedTable: [String] {
    var table = TextTable(numbers: [
      Self.heading(workload.kind), "rate", "p50", "p90", "p99", "dropped", "first", "last",
      "drift", "heat",
    ])
    for configuration in configurations {
      guard let sustained = configuration.sustained else { continue }
      table.add([
        mark(configuration), HumanReadable.perSecond(sustained.throughput), text(sustained.latency.p50),
        text(sustained.latency.p90), text(sustained.latency.p99),
        workload.kind == .stream ? "\(sustained.dropped)" : "", text(sustained.first?.p50), text(sustained.last?.p50),
        sustained.drift.map { HumanReadable.fixed($0, decimals: 2) } ?? "—", configuration.thermal?.name ?? "—",
      ])
    }
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
    var table = TextTable(numbers: ["Plans tried for '\(configuration.label)'", "predicted", "measured p50", "n"])
    for (index, entry) in trial.entries.enumerated() {
      table.add([
        (index == trial.chosen ? "* " : "  ") + entry.label, HumanReadable.seconds(entry.predicted),
        HumanReadable.seconds(entry.seconds), "\(entry.samples)",
      ])
    }
    return table.lines(width: 80, leavingOut: ["n"])
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
    let joules = configurations[index].sustained?.measuredJoules.map { "\(HumanReadable.significant($0 * 1e3)) mJ" }
    let ratio = relativeEnergy(of: index).map {
      "\(HumanReadable.significant($0.ratio)) × that of \($0.reference)" + (joules == nil ? " (estimated)" : "")
    }
    let parts = [joules, ratio].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private func text(_ seconds: Double?) -> String { seconds.map { HumanReadable.seconds($0) } ?? "—" }
}

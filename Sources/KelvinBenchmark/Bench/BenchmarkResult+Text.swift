import KelvinProfiling
import KelvinRuntime

extension BenchmarkResult {
  /// What `kelvin bench` prints for people, line by line: starts, warm latency, the load that goes on, the verdict.
  package var lines: [String] {
    var lines = ["\(model.name): \(workload.description)", machine.summary, ""]
    lines += startTable
    if workload.kind != .oneShot { lines += [""] + sustainedTable }
    lines += [""] + agreementTable
    for configuration in configurations {
      lines += "weights for \(configuration.label): \(configuration.weights.text)".wrapped(indent: "  ")
    }
    let decays = configurations.compactMap { configuration in
      configuration.sustained?.fit.map { fit in
        let isDisturbed = fit.finding != .noDecay && configuration.disturbedWindows * 4 > configuration.windows
        return "\(configuration.label): \(Self.describe(fit))"
          + (isDisturbed ? "; the processors were contended meanwhile, so this need not be heat" : "")
      }
    }
    if !decays.isEmpty { lines += ["", "Over time"] + decays.flatMap { "- \($0)".wrapped(indent: "  ") } }
    let trials = configurations.filter { $0.trial != nil }
    for configuration in trials { lines += [""] + Self.trialTable(configuration) }
    let energies = configurations.compactMap { configuration in
      configuration.sustained?.joulesPerInference.map {
        "\(configuration.label) \(HumanReadable.significant($0 * 1e3)) mJ"
      }
    }
    if !energies.isEmpty { lines += [""] + ("Energy per inference: " + energies.joined(separator: ", ")).wrapped(indent: "  ") }
    lines += ["", "Notes"] + notes.flatMap { "- \($0)".wrapped(indent: "  ") }
    lines += [""] + verdict.sentences.flatMap { $0.wrapped() }
    return lines
  }

  private var startTable: [String] {
    var table = TextTable(["Units", "load", "compile", "first", "warm p50", "p90", "p99", "n"])
    for configuration in configurations {
      let warm = configuration.warm
      table.add([
        mark(configuration), text(configuration.load), text(configuration.compile), text(configuration.first),
        text(warm.p50), text(warm.p90), text(warm.p99), "\(warm.count)",
      ])
    }
    return table.lines
  }

  private var sustainedTable: [String] {
    var table = TextTable([
      workload.kind == .stream ? "Stream" : "Throughput", "rate", "p50", "p90", "p99", "dropped", "drift", "heat",
    ])
    for configuration in configurations {
      guard let sustained = configuration.sustained else { continue }
      table.add([
        mark(configuration), HumanReadable.perSecond(sustained.throughput), text(sustained.latency.p50),
        text(sustained.latency.p90), text(sustained.latency.p99),
        workload.kind == .stream ? "\(sustained.dropped)" : "",
        sustained.drift.map { HumanReadable.fixed($0, decimals: 2) } ?? "—", configuration.thermal?.name ?? "—",
      ])
    }
    let sources = Set(configurations.map(\.thermalSource)).subtracting([""]).sorted()
    return table.lines + sources.flatMap { "heat from: \($0)".wrapped(indent: "  ") }
  }

  private var agreementTable: [String] {
    guard configurations.contains(where: { $0.agreement != nil }) else { return [] }
    var table = TextTable(["Against the reference", "top-1", "largest Δ", "mean Δ", "inputs"])
    for configuration in configurations {
      guard let agreement = configuration.agreement else { continue }
      table.add([
        configuration.label, agreement.top1.map { HumanReadable.percent($0, decimals: 0) } ?? "—",
        HumanReadable.significant(agreement.largestDifference), HumanReadable.significant(agreement.meanDifference),
        "\(agreement.inputs)",
      ])
    }
    return table.lines
  }

  private static func trialTable(_ configuration: ConfigurationResult) -> [String] {
    guard let trial = configuration.trial else { return [] }
    var table = TextTable(["Plans tried for '\(configuration.label)'", "predicted", "measured p50", "n"])
    for (index, entry) in trial.entries.enumerated() {
      table.add([
        (index == trial.chosen ? "* " : "  ") + entry.label, HumanReadable.seconds(entry.predicted),
        HumanReadable.seconds(entry.latency.p50), "\(entry.latency.count)",
      ])
    }
    return table.lines
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

  private func text(_ seconds: Double) -> String { HumanReadable.seconds(seconds) }
}

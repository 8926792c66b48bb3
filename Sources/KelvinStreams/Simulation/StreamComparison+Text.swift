import KelvinBasics
import KelvinThermal

extension StreamComparison {
  /// The output of a simulation for people, in lines of at most 80 columns.
  package var lines: [String] {
    heading + [""] + table + crossovers.map(sentence).listed(under: "Crossovers") + actions.listed(under: "Governor")
      + Set(simulation.plans.map { "\($0.label): \($0.energySource)" }).sorted().listed(under: "Power sources")
      + [""] + verdict.flatMap { $0.wrapped() }
  }

  /// The sentences for reports: each crossover, then the verdict.
  package var sentences: [String] { crossovers.map(sentence) + verdict }

  private var heading: [String] {
    let envelope = simulation.envelope
    let stream = simulation.stream
    let arrivals = stream.framesPerSecond.map { "\(HumanReadable.significant($0)) frames/s" } ?? "back to back"
    var what = "Simulated stream: \(arrivals) for \(HumanReadable.seconds(stream.duration)) of virtual time"
    if stream.coLoad > 0 {
      what += ", \(HumanReadable.percent(stream.coLoad, decimals: 0)) of the machine busy besides"
    }
    func watts(_ value: Double) -> String { HumanReadable.significant(value) + " W" }
    return (what + ", seed \(simulation.seed)").wrapped()
      + ("Envelope \"\(envelope.name)\": \(watts(envelope.sustainableWatts)) sustained, \(watts(envelope.fullLoadWatts))"
      + " at full load, \(watts(envelope.idleWatts)) idle; τ \(HumanReadable.seconds(envelope.fast.tau)) and"
      + " \(HumanReadable.seconds(envelope.slow.tau)). No temperature is known or shown.").wrapped()
  }

  /// The table of runs. A narrow terminal first drops columns, then truncates long names.
  private var table: [String] {
    let header = ["Plan", "p50 cool", "settled", "p90", "rate", "lost", "power", "slowed", "heat"]
    let rows = (runs + [governed].compactMap { $0 }).compactMap { run -> [String]? in
      guard let first = run.windows.first, let last = run.windows.last else { return nil }
      return [
        run.label, HumanReadable.seconds(first.p50), HumanReadable.seconds(last.p50), HumanReadable.seconds(last.p90),
        HumanReadable.perSecond(run.settledRate),
        "\(run.dropped + run.skipped)", HumanReadable.significant(last.watts) + " W",
        run.throttledAt.map(Self.moment) ?? "never", (run.windows.map(\.state).max() ?? .nominal).name,
      ]
    }
    func lines(without hidden: Set<String>, label: Int) -> [String] {
      let shown = header.indices.filter { !hidden.contains(header[$0]) }
      var table = TextTable(numbers: shown.map { header[$0] })
      for row in rows {
        let name = row[0].count > label ? row[0].prefix(label - 1) + "…" : row[0][...]
        table.add([String(name)] + shown.dropFirst().map { row[$0] })
      }
      return table.lines()
    }
    for hidden: Set<String> in [[], ["p90"], ["p90", "lost"]] {
      let full = lines(without: hidden, label: .max)
      if full.allSatisfy({ $0.count <= 80 }) { return full }
    }
    return lines(without: ["p90", "lost"], label: 18)
  }

  /// Returns `33.0 s` or `3.9 min`.
  private static func moment(_ seconds: Double) -> String {
    seconds < 120 ? HumanReadable.seconds(seconds) : HumanReadable.fixed(seconds / 60, decimals: 1) + " min"
  }

  /// Returns `all is overtaken by cpu-only after 7.3 minutes, …`.
  package func sentence(_ crossover: Crossover) -> String {
    let (hot, lean) = (simulation.plans[crossover.overtaken].label, simulation.plans[crossover.overtaking].label)
    let minute = "\(hot) is overtaken by \(lean) after \(HumanReadable.significant(crossover.minutes)) minutes"
    let window = { (run: StreamRun) in run.windows.last }
    guard let slow = window(runs[crossover.overtaken]), let steady = window(runs[crossover.overtaking]) else {
      return minute
    }
    let detail =
      switch crossover.measure {
      case .latency:
        "median latency at the end \(HumanReadable.seconds(slow.p50)) against \(HumanReadable.seconds(steady.p50))"
      case .rate: "\(HumanReadable.perSecond(slow.rate)) at the end against \(HumanReadable.perSecond(steady.rate))"
      }
    let even = crossover.evenAt.map {
      "; counted from the start both have answered as many after \(HumanReadable.seconds($0))"
    }
    return "\(minute): \(detail)\(even ?? "")"
  }

  /// The number of answers, and the first twelve actions of the governor.
  private var actions: [String] {
    guard let governed else { return [] }
    guard !governed.actions.isEmpty else { return ["nothing to do"] }
    let arrived = governed.served + governed.dropped + governed.skipped
    let outcome =
      "answers \(governed.served) of \(arrived) frames, "
      + (governed.throttledAt.map { "slowed by heat after \(HumanReadable.seconds($0))" } ?? "never slowed by heat")
    let more = governed.actions.count - 12
    return [outcome] + governed.actions.prefix(12).map { "\(HumanReadable.seconds($0.at)): \($0.text)" }
      + (more > 0 ? ["and \(more) more"] : [])
  }

  /// The verdict, whose last sentence gives the recommendation.
  package var verdict: [String] {
    let labels = simulation.plans.map(\.label)
    let duration = HumanReadable.seconds(simulation.stream.duration)
    let envelope = "the envelope \"\(simulation.envelope.name)\""
    guard labels.count > 1 else {
      return ["Over \(duration) on \(envelope), \(labels[0]) settles at \(settled(runs[0]))."]
    }
    let (cool, warm) = (bestCool, bestSettled)
    if isEven, crossovers.isEmpty {
      return ["Over \(duration) on \(envelope) no plan is clearly faster; \(labels[warm]) draws least."]
    }
    if cool == warm {
      return ["Over \(duration) on \(envelope), \(labels[warm]) is best from beginning to end: \(settled(runs[warm]))."]
    }
    return [
      "Cool, \(labels[cool]) is best; over \(duration) on \(envelope) pick \(labels[warm]): \(settled(runs[warm]))"
        + " against \(settled(runs[cool]))."
    ]
  }

  private func settled(_ run: StreamRun) -> String {
    "\(HumanReadable.perSecond(run.settledRate)) at \(HumanReadable.seconds(run.windows.last?.p50))"
  }
}

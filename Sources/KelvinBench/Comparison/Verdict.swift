import KelvinBasics

/// The recommendation, in sentences. It names a winner only when the difference exceeds noise.
package struct Verdict: Sendable, Hashable {
  /// One sentence for each measured question: single predictions first, then the sustained load.
  package var sentences: [String]
  /// The configuration to pick for the workload; nil when no difference was measured.
  package var winner: Int?
  /// The configuration whose plan is kept: the winner, or the least median among equals.
  package var best: Int

  package var text: String { sentences.joined(separator: " ") }

  /// - Parameters:
  ///   - labels: the configurations as the user named them.
  ///   - start: seconds to the first answer; nil when not measured.
  ///   - warm: seconds of one further inference; nil when not measured.
  ///   - load: the sustained load, if there was one.
  ///   - scenario: the other load of the machine, in words; empty for none.
  ///   - interruption: the point at which the user interrupted; nil when everything was measured.
  package init(
    labels: [String], start: Finding?, warm: Finding?, load: SustainedFinding?, scenario: String = "",
    interruption: String? = nil
  ) {
    let condition = scenario.isEmpty ? "" : ", with \(scenario)"
    let photo = [
      Self.photo(
        labels, start: start, warm: warm, load?.isOfTokens == true ? "Starting" : "One photo", condition),
      Self.disturbance(start, "the starts"),
      Self.disturbance(warm, "the warm latencies"),
    ].compactMap { $0 }
    sentences = photo.isEmpty ? [] : [photo.joined(separator: " ")]
    winner = (start ?? warm)?.winner
    best = (start ?? warm).map { $0.winner ?? $0.best } ?? 0
    if let load {
      let parts = [Self.sustained(labels, load, condition), Self.disturbance(load.deciding, "it")]
      sentences.append(parts.compactMap { $0 }.joined(separator: " "))
      winner = load.deciding.winner
      best = load.deciding.winner ?? load.deciding.best
    }
    if let interruption {
      sentences.insert("Partial: \(interruption).", at: 0)
      if sentences.count == 1 { sentences.append("Nothing was measured long enough to recommend anything.") }
    }
  }

  private static func photo(
    _ labels: [String], start: Finding?, warm: Finding?, _ subject: String, _ condition: String
  ) -> String? {
    let parts = [start.map { first(labels, $0) }, warm.map { further(labels, $0) }].compactMap { $0 }
    return parts.isEmpty ? nil : "\(subject)\(condition): " + parts.joined(separator: "; ") + "."
  }

  private static func first(_ labels: [String], _ start: Finding) -> String {
    let seconds = HumanReadable.seconds
    let what = "after the start (launch, load, compile, first inference)"
    guard labels.count > 1 else { return "\(labels[0]) answers \(seconds(start.medians[0])) \(what)" }
    guard let winner = start.winner else {
      return undecided(labels, start, "to the first answer") + behind(labels, start, verb: "sooner")
        + power(start)
    }
    return "pick \(labels[winner]), which answers \(seconds(start.medians[winner])) \(what)"
      + behind(labels, start, verb: "sooner")
  }

  private static func further(_ labels: [String], _ warm: Finding) -> String {
    let seconds = HumanReadable.seconds
    guard labels.count > 1 else { return "every further photo takes \(seconds(warm.medians[0]))" }
    guard let winner = warm.winner else {
      return "once warm, " + undecided(labels, warm) + behind(labels, warm, verb: "faster") + power(warm)
    }
    return "once warm, \(labels[winner]) takes \(seconds(warm.medians[winner])) a photo"
      + behind(labels, warm, verb: "faster")
  }

  private static func sustained(_ labels: [String], _ load: SustainedFinding, _ condition: String) -> String {
    let question =
      (load.framesPerSecond.map { "Stream of \(HumanReadable.significant($0)) frames/s" }
        ?? (load.isOfTokens ? "Tokens one after another" : "Many photos")) + condition
    func rate(_ index: Int) -> String { HumanReadable.perSecond(1 / load.served.medians[index]) }
    func facts(_ index: Int) -> String {
      let heat = load.outcomes[index].heatText.map { "; \($0)" } ?? ""
      guard let framesPerSecond = load.framesPerSecond else { return rate(index) + heat }
      return load.outcomes[index].text(framesPerSecond: framesPerSecond)
        + ", half of the answers within \(HumanReadable.seconds(load.latency.medians[index]))" + heat
    }
    guard labels.count > 1 else {
      return "\(question): \(labels[0]) \(load.framesPerSecond == nil ? "does " : "")\(facts(0))."
    }
    let decider = load.deciding
    guard let winner = decider.winner else {
      return "\(question): \(undecided(labels, decider)) a \(load.isOfTokens ? "token" : "frame")"
        + behind(labels, decider, verb: "faster") + power(decider)
        + "; \(labels[decider.best]) \(load.framesPerSecond == nil ? "does " : "")\(facts(decider.best))."
    }
    let how = decider == load.served ? (load.isOfTokens ? "more tokens" : "more frames") : "faster"
    return "\(question): pick \(labels[winner]) (\(facts(winner)))" + behind(labels, decider, verb: how) + "."
  }

  /// Returns `, 3.1 × faster than the next, vulkan:0`; empty when no configuration is behind.
  private static func behind(_ labels: [String], _ finding: Finding, verb: String) -> String {
    guard let next = finding.runnerUp else { return "" }
    let all = finding.winner == nil ? (finding.tied.count == 2 ? "both " : "all ") : ""
    return ", \(all)\(HumanReadable.significant(next.ratio)) × \(verb) than the next, \(labels[next.index])"
  }

  /// Returns `no difference measured between cpu-only (12.3 ms) and all (12.4 ms)`, or that nothing was compared.
  private static func undecided(_ labels: [String], _ finding: Finding, _ what: String = "") -> String {
    let what = what.isEmpty ? "" : " \(what)"
    if let refusal = finding.refusal { return "not compared (\(refusal))\(what): \(names(labels, finding))" }
    return "no difference measured\(what) between \(names(labels, finding))"
  }

  /// Returns `, where one of 12 % would have been seen in 8 of 10 runs`; empty without a detectable difference.
  private static func power(_ finding: Finding) -> String {
    guard finding.refusal == nil, let difference = finding.detectable else { return "" }
    let size = difference < 1 ? HumanReadable.percent(difference) : "\(HumanReadable.significant(1 + difference)) ×"
    return ", where one of \(size) would have been seen in 8 of 10 runs"
  }

  /// Returns `Other processes took processor time in 14 of the 20 rounds behind the warm latencies: …`; nil when no
  /// disturbed round counts.
  private static func disturbance(_ finding: Finding?, _ what: String) -> String? {
    guard let finding, finding.disturbedCounted > 0 else { return nil }
    return
      "Other processes took processor time in \(finding.disturbedCounted) of the \(finding.rounds) rounds behind"
      + " \(what): they count because too few quiet rounds remain."
  }

  /// Returns `cpu-only (12.3 ms) and all (12.4 ms)`.
  private static func names(_ labels: [String], _ finding: Finding) -> String {
    finding.tied.map { "\(labels[$0]) (\(HumanReadable.seconds(finding.medians[$0])))" }.inWords
  }
}

/// The comparison of configurations under a sustained load.
package struct SustainedFinding: Sendable, Hashable {
  /// Arrivals per second; nil for the highest rate.
  package var framesPerSecond: Double?
  /// Whether tokens were generated instead of frames.
  package var isOfTokens: Bool
  /// Seconds per answered frame.
  package var served: Finding
  /// Seconds from a frame's arrival to its answer.
  package var latency: Finding
  /// The outcome of each configuration.
  package var outcomes: [SustainedOutcome]

  package init(
    framesPerSecond: Double?, isOfTokens: Bool = false, served: Finding, latency: Finding,
    outcomes: [SustainedOutcome]
  ) {
    self.isOfTokens = isOfTokens
    self.framesPerSecond = framesPerSecond
    self.served = served
    self.latency = latency
    self.outcomes = outcomes
  }

  /// The deciding finding. A configuration that answers more frames is better; among those that answer equally many,
  /// the one with less latency.
  package var deciding: Finding {
    framesPerSecond == nil ? served : Self.deciding(served: served, latency: latency)
  }

  static func deciding(served: Finding, latency: Finding) -> Finding {
    served.winner != nil || !served.tied.contains(latency.best) ? served : latency
  }
}

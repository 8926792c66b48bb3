import KelvinProfiling

/// What the measurements recommend, in plain sentences, and only as far as they reach beyond noise.
package struct Verdict: Sendable, Hashable {
  /// One for each question that was measured: a single photo, then a stream or a pile of photos.
  package var sentences: [String]
  /// The configuration to pick for the workload asked for; nil where no difference was measured.
  package var winner: Int?
  /// The configuration whose plan is worth keeping: the winner, or the least median among equals.
  package var best: Int

  package var text: String { sentences.joined(separator: " ") }

  /// - Parameters:
  ///   - labels: the configurations as the user named them.
  ///   - start: seconds to the first answer.
  ///   - warm: seconds of one more inference.
  ///   - load: the sustained part, where there was one.
  package init(labels: [String], start: Finding, warm: Finding, load: SustainedFinding?) {
    sentences = [Self.photo(labels, start: start, warm: warm)]
    winner = start.winner
    best = start.best
    if let load {
      sentences.append(Self.sustained(labels, load))
      winner = load.deciding.winner
      best = load.deciding.best
    }
  }

  private static func photo(_ labels: [String], start: Finding, warm: Finding) -> String {
    let seconds = HumanReadable.seconds
    guard labels.count > 1 else {
      return
        "One photo: \(labels[0]) answers \(seconds(start.medians[0])) after the start (load, compile, first inference);"
        + " every further photo takes \(seconds(warm.medians[0]))."
    }
    let first =
      start.winner.map { winner in
        "pick \(labels[winner]), which answers \(seconds(start.medians[winner])) after the start"
          + " (load, compile, first inference)" + behind(labels, start, verb: "sooner")
      }
      ?? "no difference measured to the first answer between \(names(labels, start))"
      + behind(labels, start, verb: "sooner")
    let further =
      warm.winner.map { winner in
        "once warm, \(labels[winner]) takes \(seconds(warm.medians[winner])) a photo"
          + behind(labels, warm, verb: "faster")
      }
      ?? "once warm, no difference measured between \(names(labels, warm))" + behind(labels, warm, verb: "faster")
    return "One photo: \(first); \(further)."
  }

  private static func sustained(_ labels: [String], _ load: SustainedFinding) -> String {
    let question = load.framesPerSecond.map { "Stream of \(HumanReadable.significant($0)) frames/s" } ?? "Many photos"
    func rate(_ index: Int) -> String { HumanReadable.perSecond(1 / load.served.medians[index]) }
    func facts(_ index: Int) -> String {
      guard load.framesPerSecond != nil else { return "\(rate(index))" }
      let dropped = load.droppedShare[index]
      let keeps = dropped == 0 ? "keeps up" : "drops \(HumanReadable.percent(dropped)) of the frames"
      return "\(keeps), half of the frames answered within \(HumanReadable.seconds(load.latency.medians[index]))"
    }
    guard labels.count > 1 else {
      return "\(question): \(labels[0]) \(load.framesPerSecond == nil ? "does " : "")\(facts(0))."
    }
    let decider = load.deciding
    guard let winner = decider.winner else {
      return "\(question): no difference measured between \(names(labels, decider)) a frame"
        + behind(labels, decider, verb: "faster")
        + "; \(labels[decider.best]) \(load.framesPerSecond == nil ? "does " : "")\(facts(decider.best))."
    }
    let how = decider == load.served ? "more frames" : "faster"
    return "\(question): pick \(labels[winner]) (\(facts(winner)))" + behind(labels, decider, verb: how) + "."
  }

  /// `, 3.1 × faster than the next, vulkan:0`; empty where nobody is behind.
  private static func behind(_ labels: [String], _ finding: Finding, verb: String) -> String {
    guard let next = finding.runnerUp else { return "" }
    let all = finding.winner == nil ? (finding.tied.count == 2 ? "both " : "all ") : ""
    return ", \(all)\(HumanReadable.significant(next.ratio)) × \(verb) than the next, \(labels[next.index])"
  }

  /// `cpu-only (12.3 ms) and all (12.4 ms)`.
  private static func names(_ labels: [String], _ finding: Finding) -> String {
    let names = finding.tied.map { "\(labels[$0]) (\(HumanReadable.seconds(finding.medians[$0])))" }
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }
}

/// How configurations hold up under a load that goes on.
package struct SustainedFinding: Sendable, Hashable {
  /// Arrivals a second; nil where there were as many as would go.
  package var framesPerSecond: Double?
  /// Seconds for each frame that was answered.
  package var served: Finding
  /// Seconds from a frame's arrival to its answer.
  package var latency: Finding
  /// For each configuration, 0…1.
  package var droppedShare: [Double]

  package init(framesPerSecond: Double?, served: Finding, latency: Finding, droppedShare: [Double]) {
    self.framesPerSecond = framesPerSecond
    self.served = served
    self.latency = latency
    self.droppedShare = droppedShare
  }

  /// Who answers more frames is better; among those that answer as many, who answers sooner.
  package var deciding: Finding {
    framesPerSecond == nil || served.winner != nil || !served.tied.contains(latency.best) ? served : latency
  }
}

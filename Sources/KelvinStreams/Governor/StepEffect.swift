import KelvinBasics
import KelvinMeasurements
package import KelvinThermal

/// The measured effect of a change of a stream's setting: the seconds before and after it.
package struct StepEffect: Sendable, Hashable {
  /// A stream during some seconds.
  package struct Period: Sendable, Hashable {
    /// Answers per second.
    package var rate: Double
    /// The median seconds from a frame's arrival to its answer; nil without answers.
    package var latency: Double?
    /// The mean power of the machine; nil if no report has it.
    package var watts: Double?
    /// The headroom at the end; nil without a report.
    package var headroom: Double?
    /// The rise of headroom in a minute; nil with fewer than two reports.
    package var headroomPerMinute: Double?
  }

  package var before: Period
  package var after: Period

  /// The differences in words: `29.9 to 15 answers/s, 33 to 31 ms, 7.8 to 4.1 W`.
  package var text: String {
    func change(_ old: Double?, _ new: Double?, _ unit: String) -> String? {
      guard let old, let new else { return nil }
      return "\(HumanReadable.significant(old)) to \(HumanReadable.significant(new)) \(unit)"
    }
    let latency = before.latency.flatMap { old in
      after.latency.map { "\(HumanReadable.seconds(old)) to \(HumanReadable.seconds($0)) each" }
    }
    let heat = before.headroomPerMinute.flatMap { old in
      after.headroomPerMinute.map {
        "headroom \(Self.signed(old)) to \(Self.signed($0)) a minute"
      }
    }
    return [
      change(before.rate, after.rate, "answers/s"), latency, change(before.watts, after.watts, "W"), heat,
    ].compactMap { $0 }.joined(separator: ", ")
  }

  private static func signed(_ slope: Double) -> String {
    (slope < 0 ? "−" : "+") + HumanReadable.fixed(abs(slope), decimals: 3)
  }
}

/// Measures the effects of a governor's actions. The seconds just after an action, in which the old setting still shows,
/// do not count.
package struct StepMeter: Sendable {
  /// Seconds before an action, after it, and those left out in between.
  private static let (before, after, gap) = (10.0, 10.0, 1.0)
  /// The least seconds after an action for which its effect is told, if another action follows.
  private static let least = 3.0
  /// The most answers whose times are kept.
  private static let mostAnswers = 4096

  private struct Answer {
    var at: Double
    var latency: Double
  }

  private struct Heat {
    var at: Double
    var headroom: Double
    var watts: Double?
  }

  private var answers: [Answer] = []
  private var heat: [Heat] = []
  private var pending: (action: GovernorAction, before: StepEffect.Period, from: Double)?

  package init() {}

  /// Adds an answer.
  ///
  /// - Parameters:
  ///   - now: seconds on the clock of actions and reports.
  ///   - latency: seconds from the frame's arrival.
  package mutating func add(answerAt now: Double, latency: Double) {
    answers.append(Answer(at: now, latency: latency))
    if answers.count > Self.mostAnswers { answers.removeFirst(Self.mostAnswers / 4) }
  }

  package mutating func add(_ report: ThermalReport) {
    heat.append(Heat(at: report.at, headroom: report.headroom, watts: report.watts))
    if heat.count > Self.mostAnswers { heat.removeFirst(Self.mostAnswers / 4) }
  }

  /// Begins to measure an action's effect.
  ///
  /// - Returns: the previous action and its effect, if that was still being measured and lasted long enough.
  package mutating func begin(_ action: GovernorAction) -> (GovernorAction, StepEffect)? {
    let previous = end(at: action.at, least: Self.least)
    let from = max(action.at - Self.before, start ?? action.at)
    pending = (action, period(from: from, to: action.at), action.at + Self.gap)
    return previous
  }

  /// Returns the latest action and its effect once it has been measured; nil before.
  package mutating func due(at now: Double) -> (GovernorAction, StepEffect)? { end(at: now, least: Self.after) }

  private mutating func end(at now: Double, least: Double) -> (GovernorAction, StepEffect)? {
    guard let (action, before, from) = pending, now - from >= least else { return nil }
    pending = nil
    return (action, StepEffect(before: before, after: period(from: from, to: now)))
  }

  private var start: Double? { [answers.first?.at, heat.first?.at].compactMap { $0 }.min() }

  private func period(from: Double, to: Double) -> StepEffect.Period {
    let latencies = answers.filter { $0.at >= from && $0.at <= to }.map(\.latency)
    let reports = heat.filter { $0.at >= from && $0.at <= to }
    let watts = reports.compactMap(\.watts)
    var slope: Double?
    if let first = reports.first, let last = reports.last, last.at > first.at {
      slope = (last.headroom - first.headroom) / (last.at - first.at) * 60
    }
    return StepEffect.Period(
      rate: to > from ? Double(latencies.count) / (to - from) : 0,
      latency: (try? LatencyStatistics(latencies))?.median,
      watts: watts.isEmpty ? nil : watts.reduce(0, +) / Double(watts.count), headroom: reports.last?.headroom,
      headroomPerMinute: slope)
  }
}

import KelvinBasics
import KelvinMeasurements
package import KelvinThermal

/// The effect of a change of a stream's setting: what the seconds before and after it show.
package enum StepEffect: Sendable, Hashable {
  /// A stream during some seconds.
  package struct Period: Sendable, Hashable {
    /// Answers per second; nil without answers.
    package var rate: Double?
    /// The median seconds from a frame's arrival to its answer; nil without answers.
    package var latency: Double?
    /// The mean power of the machine; nil if no report has it.
    package var watts: Double?
    /// The headroom at the end; nil without a report.
    package var headroom: Double?
    /// The rise of headroom in a minute of the clock of reports; nil with fewer than two reports.
    package var headroomPerMinute: Double?
  }

  case measured(before: Period, after: Period)
  /// - Parameter reason: e.g. `the next step came after 200 ms`.
  case unmeasured(reason: String)

  package var isMeasured: Bool {
    if case .measured = self { true } else { false }
  }

  /// The differences in words: `29.9 to 15 answers/s, 33 to 31 ms each, machine 7.8 to 4.1 W`; or the reason why they
  /// are not known.
  package var text: String {
    switch self {
    case .measured(let before, let after): Self.text(before, after)
    case .unmeasured(let reason): reason
    }
  }

  private static func text(_ before: Period, _ after: Period) -> String {
    func change(_ path: KeyPath<Period, Double?>, _ text: (_ old: Double, _ new: Double) -> String) -> String? {
      before[keyPath: path].flatMap { old in after[keyPath: path].map { text(old, $0) } }
    }
    return [
      change(\.rate) { "\(HumanReadable.significant($0)) to \(HumanReadable.significant($1)) answers/s" },
      change(\.latency) { "\(HumanReadable.seconds($0)) to \(HumanReadable.seconds($1)) each" },
      change(\.watts) { "machine \(HumanReadable.significant($0)) to \(HumanReadable.significant($1)) W" },
      change(\.headroomPerMinute) { "heat \(signed($0)) to \(signed($1)) of the limit a minute" },
    ].compactMap { $0 }.joined(separator: ", ")
  }

  private static func signed(_ slope: Double) -> String {
    (slope < 0 ? "−" : "+") + HumanReadable.fixed(abs(slope), decimals: 3)
  }
}

/// Measures the effects of a governor's actions, on the clock of the reports, which simulated heat may make run faster
/// than the stream's. The seconds just after an action, in which the old setting still shows, do not count.
package struct StepMeter: Sendable {
  /// Seconds before an action, after it, and those left out in between.
  private static let (before, after, gap) = (10.0, 10.0, 1.0)
  /// The least seconds and answers after an action that show its effect. The seconds are for an action that another
  /// one, or the end of the stream, follows.
  private static let (least, leastAnswers) = (3.0, 5)
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

  private let speed: Double
  private var answers: [Answer] = []
  private var heat: [Heat] = []
  private var pending: (action: GovernorAction, before: StepEffect.Period)?
  /// The time from which the latest setting shows.
  private var from: Double?

  /// - Parameter speed: the seconds of the reports' clock in each second of the stream.
  package init(speed: Double = 1) { self.speed = speed }

  /// Adds an answer.
  ///
  /// - Parameters:
  ///   - now: seconds on the clock of actions and reports.
  ///   - latency: seconds of the stream from the frame's arrival.
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
  /// - Returns: the previous action and its effect, if that was still being measured.
  package mutating func begin(_ action: GovernorAction) -> (GovernorAction, StepEffect)? {
    let previous = end(at: action.at, because: "the next step came")
    let start = [answers.first?.at, heat.first?.at].compactMap { $0 }.min() ?? action.at
    let begin = max(action.at - Self.before, start, from ?? -.infinity)
    pending = (action, period(from: begin, to: action.at))
    from = action.at + Self.gap
    return previous
  }

  /// Returns the latest action and its effect once it has been measured; nil before.
  package mutating func due(at now: Double) -> (GovernorAction, StepEffect)? {
    guard pending != nil, let from, now - from >= Self.after, answers(from: from, to: now) >= Self.leastAnswers else {
      return nil
    }
    return end(at: now, because: "")
  }

  /// Ends the measurement with the stream.
  ///
  /// - Returns: the latest action and its effect, if that was still being measured.
  package mutating func finish(at now: Double) -> (GovernorAction, StepEffect)? {
    end(at: now, because: "the stream ended")
  }

  private mutating func end(at now: Double, because event: String) -> (GovernorAction, StepEffect)? {
    guard let (action, before) = pending, let from else { return nil }
    pending = nil
    if before.rate == nil { return (action, .unmeasured(reason: "no answers came before the step")) }
    guard now - from >= Self.least, answers(from: from, to: now) >= Self.leastAnswers else {
      let seconds = HumanReadable.seconds(max(0, now - action.at) / speed)
      return (action, .unmeasured(reason: "\(event) after \(seconds)"))
    }
    return (action, .measured(before: before, after: period(from: from, to: now)))
  }

  private func answers(from: Double, to: Double) -> Int { answers.count { $0.at >= from && $0.at <= to } }

  private func period(from: Double, to: Double) -> StepEffect.Period {
    let latencies = answers.filter { $0.at >= from && $0.at <= to }.map(\.latency)
    let reports = heat.filter { $0.at >= from && $0.at <= to }
    let watts = reports.compactMap(\.watts)
    var slope: Double?
    if let first = reports.first, let last = reports.last, last.at > first.at {
      slope = (last.headroom - first.headroom) / (last.at - first.at) * 60
    }
    return StepEffect.Period(
      rate: to > from && !latencies.isEmpty ? Double(latencies.count) / (to - from) * speed : nil,
      latency: (try? LatencyStatistics(latencies))?.median,
      watts: watts.isEmpty ? nil : watts.reduce(0, +) / Double(watts.count), headroom: reports.last?.headroom,
      headroomPerMinute: slope)
  }
}

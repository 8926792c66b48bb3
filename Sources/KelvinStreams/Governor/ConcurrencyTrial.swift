import KelvinBasics

/// Finds how many frames a stream answers best at the same time, by its own first frames.
///
/// The plans are tried in increasing order of their lanes, each against the best so far: both in turns, better, next,
/// next, better, so that a steady drift of the machine's speed favors neither. A plan with more lanes is taken if it
/// brings at least `leastGain` more answers per second, and then the next one is tried. A source that is slower than
/// every plan leaves the first plan, which holds the fewest frames and has the shortest latency.
package struct ConcurrencyTrial: Sendable {
  /// The relative gain of rate below which fewer lanes are preferred.
  private static let leastGain = 0.03
  /// The answers between the first and the last whose times are taken, in each of four turns.
  package static let counted = 16

  /// The number of frames at the same time of each plan, increasing, beginning with 1.
  package let lanes: [Int]
  /// The setting from now on.
  package private(set) var setting: GovernorSetting
  private var best = 0
  /// The plan that is tried against the best; nil when the trial has ended.
  private var candidate: Int?
  private var turn = 0
  /// The seconds of the counted answers of the best plan and of the candidate.
  private var seconds = [0.0, 0.0]
  /// Answers of this turn's plan so far, and the time of the first one that counts.
  private var answers = 0
  private var began = 0.0
  private var rates: [Int: Double] = [:]

  /// - Parameters:
  ///   - lanes: as the property.
  ///   - setting: the setting of the first plan.
  package init(lanes: [Int], setting: GovernorSetting) {
    precondition(!lanes.isEmpty, "a stream has a plan")
    self.lanes = lanes
    self.setting = setting
    candidate = lanes.count > 1 ? 1 : nil
    self.setting.plan = 0
  }

  /// Takes an answer.
  ///
  /// - Parameters:
  ///   - now: the time of its delivery in seconds.
  ///   - plan: the plan that answered it. Answers of a turn before are left out.
  /// - Returns: the outcome of the trial, once.
  package mutating func answered(at now: Double, plan: Int) -> GovernorAction? {
    guard let candidate, plan == setting.plan else { return nil }
    answers += 1
    // The first answers after a change still share the processors with frames of the plan before.
    let first = lanes[max(best, candidate)]
    if answers == first { began = now }
    guard answers == first + Self.counted else { return nil }
    seconds[plan == best ? 0 : 1] += now - began
    answers = 0
    turn += 1
    if turn < 4 {
      setting.plan = turn == 3 ? best : candidate
      return nil
    }
    let isBetter = seconds[1] * (1 + Self.leastGain) <= seconds[0]
    for (plan, seconds) in zip([best, candidate], seconds) {
      rates[plan] = seconds > 0 ? Double(2 * Self.counted) / seconds : .infinity
    }
    if isBetter { best = candidate }
    (turn, seconds) = (0, [0, 0])
    setting.plan = best
    self.candidate = isBetter && candidate + 1 < lanes.count ? candidate + 1 : nil
    return self.candidate == nil ? outcome(at: now) : nil
  }

  private func outcome(at now: Double) -> GovernorAction {
    func text(_ plan: Int) -> String { lanes[plan] == 1 ? "one" : "\(lanes[plan])" }
    let measured = rates.sorted { $0.key < $1.key }.map { plan, rate in
      "\(HumanReadable.perSecond(rate)) with \(text(plan)) at a time"
    }
    return GovernorAction(
      at: now, measure: .plan(best), setting: setting, isReturn: false,
      what: "\(text(best)) frame\(lanes[best] == 1 ? "" : "s") at a time",
      cause: "measured \(measured.joined(separator: ", "))")
  }
}

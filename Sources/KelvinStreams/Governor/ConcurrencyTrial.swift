import KelvinBasics

/// A way to answer several frames at the same time.
package struct ConcurrentFrames: Sendable, Hashable {
  /// The number of frames at the same time.
  package let lanes: Int
  /// The most frames that the model answers in one batch; 1 for each frame by itself.
  package let batch: Int

  package init(lanes: Int, batch: Int = 1) {
    self.lanes = lanes
    self.batch = batch
  }

  package var text: String {
    if batch > 1 { return "batches of up to \(batch)" }
    return lanes == 1 ? "one frame at a time" : "\(lanes) frames at a time"
  }
}

/// Finds how many frames a stream answers best at the same time, by its own first frames.
///
/// Plans without batches come first, and each kind in increasing order of its frames. Each is tried against the best so
/// far: both in turns, better, next, next, better, so that a steady drift of the machine's speed favors neither. A plan
/// is taken if it brings at least `leastGain` more answers per second, and then the next one is tried; otherwise the
/// first plan of the next kind. A source that is slower than every plan leaves the first plan, which holds the fewest
/// frames and has the shortest latency.
package struct ConcurrencyTrial: Sendable {
  /// The relative gain of rate below which fewer lanes are preferred.
  private static let leastGain = 0.03
  /// The answers between the first and the last whose times are taken, in each of four turns. More frames at the same
  /// time than a quarter of them have four times their own number, because a batch's answers come together.
  package static let counted = 16

  /// The plans, beginning with one frame.
  package let plans: [ConcurrentFrames]
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
  ///   - plans: as the property.
  ///   - setting: the setting of the first plan.
  package init(_ plans: [ConcurrentFrames], setting: GovernorSetting) {
    precondition(!plans.isEmpty, "a stream has a plan")
    self.plans = plans
    self.setting = setting
    candidate = plans.count > 1 ? 1 : nil
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
    let first = max(plans[best].lanes, plans[candidate].lanes)
    let counted = max(Self.counted, 4 * first)
    if answers == first { began = now }
    guard answers == first + counted else { return nil }
    seconds[plan == best ? 0 : 1] += now - began
    answers = 0
    turn += 1
    if turn < 4 {
      setting.plan = turn == 3 ? best : candidate
      return nil
    }
    let isBetter = seconds[1] * (1 + Self.leastGain) <= seconds[0]
    for (plan, seconds) in zip([best, candidate], seconds) {
      rates[plan] = seconds > 0 ? Double(2 * counted) / seconds : .infinity
    }
    if isBetter { best = candidate }
    (turn, seconds) = (0, [0, 0])
    setting.plan = best
    self.candidate = plans.indices.first {
      $0 > candidate && (isBetter || (plans[$0].batch > 1) != (plans[candidate].batch > 1))
    }
    return self.candidate == nil ? outcome(at: now) : nil
  }

  private func outcome(at now: Double) -> GovernorAction {
    let measured = rates.sorted { $0.key < $1.key }.map { "\(HumanReadable.perSecond($1)) with \(plans[$0].text)" }
    return GovernorAction(
      at: now, measure: .plan(best), setting: setting, isReturn: false,
      what: plans[best].text,
      cause: "measured \(measured.joined(separator: ", "))")
  }
}

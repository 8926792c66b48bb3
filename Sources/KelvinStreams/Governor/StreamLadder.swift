import KelvinBasics

/// The settings of a governor as rungs, from the preferred one to the one with the least energy.
package struct StreamLadder: Sendable, Hashable, Codable {
  package struct Rung: Sendable, Hashable, Codable {
    package var setting: GovernorSetting
    /// The mean power above idle; nil if unknown.
    package var watts: Double?
    /// The expected saving and cost relative to the preferred setting; empty if unknown.
    package var effect: String
  }

  /// The least relative saving of a rung over the previous one; smaller ones are within measurement noise.
  package static let leastSaving = 0.05

  /// The labels of the plans; a setting's `plan` is an index in this array.
  package let labels: [String]
  /// The rungs, at least one.
  package let rungs: [Rung]
  /// The costs of the plans; nil if unknown, or in a document of an earlier version.
  package let costs: [StreamCost]?

  /// The plans on the rungs, the preferred one first.
  var plans: [Int] {
    rungs.reduce(into: []) { if !$0.contains($1.setting.plan) { $0.append($1.setting.plan) } }
  }

  /// Creates a ladder of every plan in the order given, then no backlog, then fewer frames.
  ///
  /// - Parameters:
  ///   - costs: the costs of each plan; nil if unknown.
  ///   - queue: the number of frames that may wait while nothing is hot.
  /// - Throws: `StreamError` without plans, or for values that are out of range.
  package init(
    labels: [String], costs: [StreamCost]? = nil, queue: Int = 1, options: Governor.Options = .init()
  ) throws(StreamError) {
    try Self.check(labels.count, costs?.map(\.watts), queue, options)
    func rung(_ setting: GovernorSetting) -> Rung {
      Rung(setting: setting, watts: costs?[setting.plan].watts(rate: setting.rate), effect: "")
    }
    var setting = GovernorSetting(plan: 0, rate: 1, queue: queue)
    var rungs = [rung(setting)]
    if options.switchesPlans {
      for plan in labels.indices.dropFirst() {
        setting.plan = plan
        rungs.append(rung(setting))
      }
    }
    if options.dropsBacklog, queue > 1 {
      setting.queue = 1
      rungs.append(rung(setting))
    }
    for rate in options.rates {
      setting.rate = rate
      rungs.append(rung(setting))
    }
    self.labels = labels
    self.rungs = rungs
    self.costs = costs
  }

  /// Creates a ladder of the plans that save energy, in decreasing order of energy per frame, then no backlog, then
  /// fewer frames. Each reduced rate uses the plan with the least energy that keeps up with it.
  ///
  /// A plan that takes longer than the preferred one counts only if it keeps up with the arrivals; otherwise it would
  /// reduce the rate as well. Rungs that save less than `leastSaving` over the previous one are left out.
  ///
  /// - Parameters:
  ///   - plans: the preferred one first, others in any order.
  ///   - framesPerSecond: arrivals per second. Nil if unknown: then every plan is assumed to keep up, and no power is
  ///     known.
  ///   - deadline: the seconds within which an answer is useful. A plan that takes longer is left out if the preferred
  ///     one does not.
  /// - Throws: the errors of the other initializer.
  package init(
    choosingAmong plans: [StreamPlan], framesPerSecond: Double?, deadline: Double? = nil, queue: Int = 1,
    options: Governor.Options = .init()
  ) throws(StreamError) {
    try Self.check(plans.count, plans.map(\.joulesPerFrame), queue, options)
    for plan in plans { try plan.validate() }
    var builder = LadderBuilder(preferred: plans[0], framesPerSecond: framesPerSecond, queue: queue)
    let slowest = max(deadline ?? .infinity, plans[0].secondsPerFrame)
    let usable =
      options.switchesPlans
      ? plans.filter { $0.secondsPerFrame <= slowest }.sorted { $0.joulesPerFrame > $1.joulesPerFrame } : [plans[0]]
    for plan in usable { builder.add(plan, rate: 1) }
    if options.dropsBacklog, queue > 1 { builder.dropBacklog() }
    for rate in options.rates {
      let leanest = usable.last { builder.keepsUp($0, rate: rate) && builder.isLeaner($0) }
      builder.add(leanest ?? builder.current, rate: rate)
    }
    labels = builder.plans.map(\.label)
    rungs = builder.rungs
    costs = framesPerSecond.map { rate in builder.plans.map { $0.cost(framesPerSecond: rate) } }
  }

  /// Descriptions of the settings, the preferred one first: `only cpu, 75 % of the frames: saves 40 % of the energy`.
  /// With known costs, a governor takes any share of the frames.
  package var descriptions: [String] {
    let isFree = costs != nil && rungs.contains { $0.setting.rate < 1 }
    let shown = rungs.filter { !isFree || $0.setting.rate == 1 || $0.setting.plan > 0 && !hasWhole($0.setting.plan) }
    return shown.map(text)
      + (isFree ? ["any of these plans, \(Self.text(rate: Governor.leastRate)) of the frames or more"] : [])
  }

  /// Returns a note that no plan meets a deadline; nil if one does, or if their times are unknown.
  package func remark(deadline: Double?) -> String? {
    guard let deadline, let fastest = costs?.compactMap(\.secondsPerFrame).min(), fastest > deadline else { return nil }
    return "no plan answers within \(HumanReadable.seconds(deadline)); "
      + "the fastest takes \(HumanReadable.seconds(fastest))"
  }

  private func hasWhole(_ plan: Int) -> Bool { rungs.contains { $0.setting.plan == plan && $0.setting.rate == 1 } }

  private func text(_ rung: Rung) -> String {
    "\(labels[rung.setting.plan]), \(Self.text(rate: rung.setting.rate)) of the frames"
      + (rung.setting.queue > 1 ? ", \(rung.setting.queue) may wait" : "")
      + (rung.effect.isEmpty ? "" : ": \(rung.effect)")
  }

  /// Returns `75 %` or `92.5 %`.
  static func text(rate: Double) -> String {
    HumanReadable.percent(rate, decimals: abs((rate * 100).rounded() - rate * 100) < 1e-6 ? 0 : 1)
  }

  private static func check(
    _ plans: Int, _ costs: [Double]?, _ queue: Int, _ options: Governor.Options
  ) throws(StreamError) {
    guard plans > 0 else { throw StreamError("a governor needs a plan to run") }
    guard costs.map({ $0.count == plans && $0.allSatisfy { $0 >= 0 && $0.isFinite } }) ?? true else {
      throw StreamError("a governor needs the power of each plan, zero watts or more, or of none")
    }
    guard queue >= 1 else { throw StreamError("queue: expected at least 1 frame that may wait, got \(queue)") }
    try options.validate()
  }
}

/// Builds a ladder.
private struct LadderBuilder {
  private(set) var plans: [StreamPlan]
  private(set) var rungs: [StreamLadder.Rung]
  private let framesPerSecond: Double?
  /// The joules per arrival on the lowest rung so far.
  private var joules: Double

  init(preferred: StreamPlan, framesPerSecond: Double?, queue: Int) {
    plans = [preferred]
    self.framesPerSecond = framesPerSecond
    rungs = []
    joules = 0
    joules = perArrival(preferred, rate: 1)
    rungs = [.init(setting: .init(queue: queue), watts: watts(joules), effect: "")]
  }

  /// Whether a plan answers every frame that is taken, or as many as the preferred plan does.
  func keepsUp(_ plan: StreamPlan, rate: Double) -> Bool {
    guard let framesPerSecond else { return true }
    return plan.secondsPerFrame <= max(1 / (framesPerSecond * rate), plans[0].secondsPerFrame)
  }

  /// The plan of the lowest rung so far.
  var current: StreamPlan { plans[rungs[rungs.count - 1].setting.plan] }

  /// Whether a frame takes clearly less energy with a plan than on the lowest rung so far.
  func isLeaner(_ plan: StreamPlan) -> Bool {
    plan.joulesPerFrame < (1 - StreamLadder.leastSaving) * current.joulesPerFrame
  }

  mutating func add(_ plan: StreamPlan, rate: Double) {
    let needed = perArrival(plan, rate: rate)
    guard keepsUp(plan, rate: rate), needed < (1 - StreamLadder.leastSaving) * joules else { return }
    joules = needed
    var setting = rungs[rungs.count - 1].setting
    setting.rate = rate
    if let known = plans.firstIndex(of: plan) {
      setting.plan = known
    } else {
      setting.plan = plans.count
      plans.append(plan)
    }
    rungs.append(.init(setting: setting, watts: watts(needed), effect: effect(plan)))
  }

  mutating func dropBacklog() {
    var rung = rungs[rungs.count - 1]
    rung.setting.queue = 1
    rungs.append(rung)
  }

  private func perArrival(_ plan: StreamPlan, rate: Double) -> Double {
    guard let framesPerSecond else { return plan.joulesPerFrame * rate }
    return plan.joulesPerFrame * min(rate, 1 / (plan.secondsPerFrame * framesPerSecond))
  }

  private func watts(_ perArrival: Double) -> Double? { framesPerSecond.map { $0 * perArrival } }

  private func effect(_ plan: StreamPlan) -> String {
    let first = plans[0]
    var parts = [
      "saves \(HumanReadable.percent(1 - joules / max(perArrival(first, rate: 1), 1e-12), decimals: 0)) of the energy"
    ]
    if plan != first {
      parts.append(
        "a frame takes \(HumanReadable.seconds(plan.secondsPerFrame)) instead of "
          + HumanReadable.seconds(first.secondsPerFrame))
    }
    if !plan.remark.isEmpty { parts.append(plan.remark) }
    return parts.joined(separator: "; ")
  }
}

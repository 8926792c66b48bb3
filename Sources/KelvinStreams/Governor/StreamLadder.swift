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

  /// Creates a ladder of every plan in the order given, then no backlog, then fewer frames.
  ///
  /// - Parameters:
  ///   - watts: for each plan, its mean power above idle when every frame is taken; nil if unknown.
  ///   - queue: the number of frames that may wait while nothing is hot.
  /// - Throws: `StreamError` without plans, or for values that are out of range.
  package init(
    labels: [String], watts: [Double]? = nil, queue: Int = 1, options: Governor.Options = .init()
  ) throws(StreamError) {
    try Self.check(labels.count, watts, queue, options)
    func rung(_ setting: GovernorSetting) -> Rung {
      Rung(setting: setting, watts: watts.map { $0[setting.plan] * setting.rate }, effect: "")
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
  /// - Throws: the errors of the other initializer.
  package init(
    choosingAmong plans: [StreamPlan], framesPerSecond: Double?, queue: Int = 1, options: Governor.Options = .init()
  ) throws(StreamError) {
    try Self.check(plans.count, plans.map(\.joulesPerFrame), queue, options)
    for plan in plans { try plan.validate() }
    var builder = LadderBuilder(preferred: plans[0], framesPerSecond: framesPerSecond, queue: queue)
    let usable = options.switchesPlans ? plans.sorted { $0.joulesPerFrame > $1.joulesPerFrame } : [plans[0]]
    for plan in usable { builder.add(plan, rate: 1) }
    if options.dropsBacklog, queue > 1 { builder.dropBacklog() }
    for rate in options.rates {
      let leanest = usable.last { builder.keepsUp($0, rate: rate) && builder.isLeaner($0) }
      builder.add(leanest ?? builder.current, rate: rate)
    }
    labels = builder.plans.map(\.label)
    rungs = builder.rungs
  }

  /// Describes a rung: `only cpu, 75 % of the frames`.
  package func text(_ rung: Int) -> String {
    let setting = rungs[rung].setting
    return "\(labels[setting.plan]), \(HumanReadable.percent(setting.rate, decimals: 0)) of the frames"
      + (setting.queue > 1 ? ", \(setting.queue) may wait" : "")
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

import KelvinBasics

/// The settings that a governor goes down, rung by rung, and up again, from the preferred one to the leanest.
package struct StreamLadder: Sendable, Hashable, Codable {
  package struct Rung: Sendable, Hashable, Codable {
    package var setting: GovernorSetting
    /// Mean power above idle; nil where it is not known.
    package var watts: Double?
    /// What it is expected to save, and what it costs, against the preferred setting; empty where nobody knows.
    package var effect: String
  }

  /// The least share of the rung before that a rung has to save: less is within what measuring tells apart.
  package static let leastSaving = 0.05

  /// What people call the plans; a setting's `plan` is a place in it.
  package let labels: [String]
  /// At least one.
  package let rungs: [Rung]

  /// Every plan in the order given, then no backlog, then fewer frames.
  ///
  /// - Parameters:
  ///   - watts: for each plan its mean power above idle when every frame is taken; nil where unknown.
  ///   - queue: frames that may wait as long as nothing is hot.
  /// - Throws: `StreamError` without plans, or for numbers that mean nothing.
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

  /// The plans that save energy, in the order of what a frame takes, then no backlog, then fewer frames, each by the
  /// leanest plan that answers so many.
  ///
  /// A plan that takes longer than the preferred one counts only where it keeps up with the arrivals: it would lower the
  /// rate as well. Rungs that save less than `leastSaving` over the one before are left out.
  ///
  /// - Parameters:
  ///   - plans: the preferred one first, others in any order.
  ///   - framesPerSecond: arrivals; nil where they are not known: every plan is taken to keep up, and no power is known.
  /// - Throws: as the other.
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

  /// A rung in words: `only cpu, 75 % of the frames`.
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

/// A ladder in the making.
private struct LadderBuilder {
  private(set) var plans: [StreamPlan]
  private(set) var rungs: [StreamLadder.Rung]
  private let framesPerSecond: Double?
  /// Joules for each arrival on the lowest rung so far.
  private var joules: Double

  init(preferred: StreamPlan, framesPerSecond: Double?, queue: Int) {
    plans = [preferred]
    self.framesPerSecond = framesPerSecond
    rungs = []
    joules = 0
    joules = perArrival(preferred, rate: 1)
    rungs = [.init(setting: .init(queue: queue), watts: watts(joules), effect: "")]
  }

  /// Whether a plan answers every frame that is taken, or as many as the preferred one does.
  func keepsUp(_ plan: StreamPlan, rate: Double) -> Bool {
    guard let framesPerSecond else { return true }
    return plan.secondsPerFrame <= max(1 / (framesPerSecond * rate), plans[0].secondsPerFrame)
  }

  /// The plan of the lowest rung so far.
  var current: StreamPlan { plans[rungs[rungs.count - 1].setting.plan] }

  /// Whether a frame takes clearly less with a plan than on the lowest rung so far.
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

import KelvinBasics
import KelvinThermal

/// The limits of a stream other than heat: the power of the machine, and the age of answers.
extension Governor {
  /// The share of the limit of the power up to which a higher setting is chosen.
  private static let powerReserve = 0.95
  /// The share of late answers from which the deadline counts as missed.
  private static let mostLate = 0.1
  /// The number of late answers from which the deadline counts as missed.
  private static let leastLate = 3
  /// The share of the deadline up to which a slower plan is chosen again.
  private static let deadlineReserve = 0.8
  /// The factor of the rate where waiting makes answers late.
  private static let relief = 0.75

  /// The reason for less power in words; nil while the machine keeps to the limit, or has not been measured for long
  /// enough since the last action.
  var excessOfPower: String? {
    guard let most = options.mostWatts, let mean = power.mean, mean > most else { return nil }
    return "\(HumanReadable.significant(mean)) W is over the limit of \(HumanReadable.significant(most)) W"
  }

  /// Returns the power above idle with which the machine keeps to the limit.
  ///
  /// - Parameters:
  ///   - present: the present setting's power above idle. The machine draws the same difference more or less.
  ///   - isReturn: whether the power is for a higher setting, which needs a reserve.
  /// - Returns: infinite without a limit; for a higher setting `present` while the power is not known.
  func powerBudget(_ present: Double, isReturn: Bool = false) -> Double {
    guard let most = options.mostWatts else { return .infinity }
    guard let mean = power.mean else { return isReturn ? present : .infinity }
    return present + (isReturn ? Self.powerReserve : 1) * most - mean
  }

  /// Whether the machine would keep to the limit of the power on a higher rung.
  func hasPower(for higher: Int) -> Bool {
    guard options.mostWatts != nil else { return true }
    let (present, next) = (ladder.rungs[rung].watts, ladder.rungs[higher].watts)
    // Without the rungs' power, a quarter less than the limit is taken to suffice for a step.
    guard let present, let next else { return powerBudget(0) >= 0.25 * (options.mostWatts ?? 0) }
    return next <= powerBudget(present, isReturn: true)
  }

  /// Takes the times of an answered frame, and reacts if more than a tenth of the latest answers are late: with a
  /// faster plan, else with fewer frames where they wait for each other.
  ///
  /// - Parameters:
  ///   - now: seconds on the clock of the reports.
  ///   - latency: seconds from the frame's arrival to its answer.
  ///   - service: seconds of the prediction.
  /// - Returns: the change to make, if any.
  package mutating func update(answeredAt now: Double, latency: Double, service: Double) -> GovernorAction? {
    guard let deadline = options.deadline, now.isFinite, latency >= 0, service >= 0 else { return nil }
    punctuality.add(at: now, isLate: latency > deadline, service: service)
    guard punctuality.isKnown, punctuality.late >= Self.leastLate, punctuality.lateShare > Self.mostLate,
      hasDwelt(at: now)
    else { return nil }
    let cause =
      "\(punctuality.late) of \(punctuality.count) answers came after the deadline of \(HumanReadable.seconds(deadline))"
    guard let costs = ladder.costs else {
      guard rung + 1 < ladder.rungs.count else { return nil }
      rung += 1
      return take(ladder.rungs[rung].setting, isReturn: false, at: now, cause)
    }
    func effect(_ next: GovernorSetting) -> String {
      let (old, new) = (costs[setting.plan], costs[next.plan])
      return cause
        + Self.text(expected: new.answers(rate: next.rate), insteadOf: old.answers(rate: setting.rate))
    }
    let isSlow = (punctuality.service ?? 0) > deadline
    if isSlow || !punctualPlans(costs).contains(setting.plan) {
      guard let faster = fasterPlan(costs) else { return nil }
      let next = rated(costs, faster, setting.rate)
      return take(next, isReturn: false, at: now, effect(next))
    }
    // The plan is fast enough, so the frames wait for each other.
    let next = rated(costs, setting.plan, Self.relief * min(setting.rate, costs[setting.plan].fullRate))
    guard next.rate < setting.rate else { return nil }
    return take(next, isReturn: false, at: now, effect(next))
  }

  /// Returns the most preferred plan that is expected to meet the deadline, else the fastest one; nil if none is
  /// faster than the present one by a tenth.
  private func fasterPlan(_ costs: [StreamCost]) -> Int? {
    guard let present = costs[setting.plan].secondsPerFrame else { return nil }
    let faster = ladder.plans.filter { (costs[$0].secondsPerFrame ?? .infinity) < 0.9 * present }
    let punctual = Set(punctualPlans(costs))
    return faster.first(where: punctual.contains)
      ?? faster.min { (costs[$0].secondsPerFrame ?? .infinity) < (costs[$1].secondsPerFrame ?? .infinity) }
  }

  /// Returns the plans that are expected to meet the deadline at the machine's present pace, in order of preference;
  /// all plans if none does.
  ///
  /// - Parameter isReturn: whether plans before the present one need a reserve.
  func punctualPlans(_ costs: [StreamCost], isReturn: Bool = false) -> [Int] {
    guard let deadline = options.deadline, let present = costs[setting.plan].secondsPerFrame else {
      return ladder.plans
    }
    let pace = max(1, (punctuality.service ?? present) / present)
    let punctual = ladder.plans.filter { plan in
      let seconds = (costs[plan].secondsPerFrame ?? 0) * pace
      return seconds <= (isReturn && plan < setting.plan ? Self.deadlineReserve : 1) * deadline
    }
    return punctual.isEmpty ? ladder.plans : punctual
  }
}

/// The mean power of the machine by its reports since the last action.
struct PowerMean: Sendable, Hashable {
  /// The seconds that are averaged, and those after which the mean counts.
  private static let (window, least) = (10.0, 5.0)
  private var samples: [Sample] = []

  private struct Sample: Hashable {
    var at: Double
    var watts: Double
  }

  mutating func add(_ report: ThermalReport) {
    guard let watts = report.watts, watts.isFinite else { return }
    if let last = samples.last, report.at < last.at { samples = [] }
    samples.append(Sample(at: report.at, watts: watts))
    let first = samples.firstIndex { $0.at >= report.at - Self.window } ?? 0
    samples.removeFirst(first)
  }

  /// Watts; nil before enough reports.
  var mean: Double? {
    guard let first = samples.first, let last = samples.last, last.at - first.at >= Self.least else { return nil }
    return samples.reduce(0) { $0 + $1.watts } / Double(samples.count)
  }
}

/// The share of late answers among the latest ones since the last action.
struct Punctuality: Sendable, Hashable {
  /// The seconds that count, the least and largest number of answers, and the number of the latest whose pace counts.
  private static let (window, least, most, latest) = (10.0, 8, 256, 16)
  private var answers: [Answer] = []

  private struct Answer: Hashable {
    var at: Double
    var isLate: Bool
    var service: Double
  }

  mutating func add(at now: Double, isLate: Bool, service: Double) {
    if let last = answers.last, now < last.at { answers = [] }
    answers.append(Answer(at: now, isLate: isLate, service: service))
    let first = answers.firstIndex { $0.at >= now - Self.window } ?? 0
    answers.removeFirst(max(first, answers.count - Self.most))
  }

  var count: Int { answers.count }
  var late: Int { answers.count(where: \.isLate) }
  var isKnown: Bool { answers.count >= Self.least }
  var lateShare: Double { answers.isEmpty ? 0 : Double(late) / Double(count) }
  /// The median seconds of the latest predictions; nil before enough answers.
  var service: Double? {
    guard isKnown else { return nil }
    let latest = answers.suffix(Self.latest).map(\.service).sorted()
    return latest[latest.count / 2]
  }
}

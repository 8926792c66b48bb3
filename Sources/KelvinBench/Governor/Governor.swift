import KelvinBasics
package import KelvinThermal

/// Keeps a stream within what the machine can shed as heat: a thermal report in, at most one action out.
///
/// The settings form a ladder, from the preferred one down: each leaner plan, then no backlog (only the newest frame may
/// wait), then fewer of the arriving frames. A rung is left
///
/// - downwards at `fair` when the limit is in sight at the present load, at `serious` always, both no sooner than
///   `dwell` after the last action; on entering `critical` at once, and then again after every `dwell`;
/// - upwards after `recovery` seconds of `nominal` without a break, and no sooner than that after the last action; and,
///   where the power of the plans and the model of the machine are known, only if the limit would not be reached within
///   as long again.
///
/// A return that heat takes back within twice that time doubles the next wait, up to `longestRecovery`; one that lasts
/// restores it. So a stream that is just too hot for a rung tries it ever more rarely, and from one return to the next
/// at least `recovery` passes, whatever the reports do. A clock set back, or silent for longer than `longestSilence`,
/// is no evidence of coolness: waiting begins again. Reports that are not numbers change nothing.
package struct Governor: Sendable, Hashable {
  package struct Options: Sendable, Hashable, Codable {
    /// Shares of the arrivals to fall back to, descending, each above 0 and below 1.
    package var rates: [Double]
    package var switchesPlans: Bool
    package var dropsBacklog: Bool
    /// Seconds between two actions.
    package var dwell: Double
    /// Seconds of `nominal` before a step back.
    package var recovery: Double
    package var longestRecovery: Double
    package var longestSilence: Double

    package init(
      rates: [Double] = [0.75, 0.5, 0.25], switchesPlans: Bool = true, dropsBacklog: Bool = true, dwell: Double = 10,
      recovery: Double = 60, longestRecovery: Double = 960, longestSilence: Double = 30
    ) {
      self.rates = rates
      self.switchesPlans = switchesPlans
      self.dropsBacklog = dropsBacklog
      self.dwell = dwell
      self.recovery = recovery
      self.longestRecovery = longestRecovery
      self.longestSilence = longestSilence
    }
  }

  package let options: Options
  /// From the preferred setting to the leanest.
  package let ladder: [GovernorSetting]
  private let labels: [String]
  private let watts: [Double]?
  /// Position on the ladder.
  package private(set) var rung = 0
  /// Seconds of `nominal` that the next return waits for.
  package private(set) var wait: Double

  private var lastAction: Double?
  private var lastReturn: Double?
  private var lastReport: Double?
  private var coolSince: Double?
  private var wasCritical = false

  /// - Parameters:
  ///   - plans: their labels, the preferred one first, each next one leaner.
  ///   - watts: for each plan its mean power above idle when every frame is taken; nil where unknown.
  ///   - queue: frames that may wait as long as nothing is hot.
  /// - Throws: `invalidRequest` without plans, or for options that mean nothing.
  package init(
    plans: [String], watts: [Double]? = nil, queue: Int = 1, options: Options = .init()
  ) throws(BenchmarkError) {
    guard !plans.isEmpty else { throw .invalidRequest("a governor needs a plan to run") }
    guard watts.map({ $0.count == plans.count && $0.allSatisfy { $0 >= 0 && $0.isFinite } }) ?? true else {
      throw .invalidRequest("a governor needs the power of each plan, zero watts or more, or of none")
    }
    guard queue >= 1 else { throw .invalidRequest("queue: expected at least 1 frame that may wait, got \(queue)") }
    let bounded = options.rates.allSatisfy { $0 > 0 && $0 < 1 }
    guard bounded, zip(options.rates, options.rates.dropFirst()).allSatisfy({ $0 > $1 }) else {
      throw .invalidRequest("rates: expected shares between 0 and 1, descending, got \(options.rates)")
    }
    let seconds = [options.dwell, options.recovery, options.longestRecovery, options.longestSilence]
    guard seconds.allSatisfy({ $0 > 0 && $0.isFinite }), options.dwell <= options.recovery,
      options.recovery <= options.longestRecovery
    else {
      throw .invalidRequest(
        "expected 0 < dwell <= recovery <= longest recovery, got \(options.dwell), \(options.recovery),"
          + " \(options.longestRecovery)")
    }
    self.options = options
    labels = plans
    self.watts = watts
    wait = options.recovery
    var setting = GovernorSetting(plan: 0, rate: 1, queue: queue)
    var ladder = [setting]
    if options.switchesPlans {
      for plan in plans.indices.dropFirst() {
        setting.plan = plan
        ladder.append(setting)
      }
    }
    if options.dropsBacklog, queue > 1 {
      setting.queue = 1
      ladder.append(setting)
    }
    for rate in options.rates {
      setting.rate = rate
      ladder.append(setting)
    }
    self.ladder = ladder
  }

  /// What holds at the moment.
  package var setting: GovernorSetting { ladder[rung] }

  /// - Returns: the change to make, if any.
  package mutating func update(_ report: ThermalReport) -> GovernorAction? {
    guard report.at.isFinite, report.headroom.isFinite else { return nil }
    observe(report)
    let entersCritical = report.state == .critical && !wasCritical
    wasCritical = report.state == .critical
    let hasDwelt = lastAction.map { report.at - $0 >= options.dwell } ?? true
    switch report.state {
    case .nominal:
      guard rung > 0, let coolSince, report.at - coolSince >= wait,
        report.at - (lastAction ?? -.infinity) >= wait, affords(ladder[rung - 1], report)
      else { return nil }
      return step(-1, report, "nominal for \(HumanReadable.seconds(report.at - coolSince))")
    case .fair:
      guard hasDwelt, let seconds = report.timeToLimit else { return nil }
      return step(1, report, "fair, headroom \(Self.text(report.headroom)), at the limit in \(Self.duration(seconds))")
    case .serious, .critical:
      guard hasDwelt || entersCritical else { return nil }
      return step(1, report, "\(report.state.name), headroom \(Self.text(report.headroom))")
    }
  }

  /// Whether the machine could run like this for as long as the governor waits.
  private func affords(_ setting: GovernorSetting, _ report: ThermalReport) -> Bool {
    guard let watts, let outlook = report.outlook else { return true }
    return outlook.timeToLimit(dynamicWatts: watts[setting.plan] * setting.rate) >= wait
  }

  /// Keeps the times by which the next step is judged; whatever happened after a clock's new time did not happen.
  private mutating func observe(_ report: ThermalReport) {
    if let last = lastReport, report.at < last {
      lastAction = lastAction.map { min($0, report.at) }
      lastReturn = lastReturn.map { min($0, report.at) }
      coolSince = nil
    } else if let last = lastReport, report.at - last > options.longestSilence {
      coolSince = nil
    }
    lastReport = report.at
    coolSince = report.state == .nominal ? coolSince ?? report.at : nil
    if let returned = lastReturn, report.at - returned > 2 * wait {
      wait = options.recovery
      lastReturn = nil
    }
  }

  private mutating func step(_ direction: Int, _ report: ThermalReport, _ cause: String) -> GovernorAction? {
    guard ladder.indices.contains(rung + direction) else { return nil }
    let old = setting
    rung += direction
    if direction > 0 {
      if lastReturn != nil { wait = min(2 * wait, options.longestRecovery) }
      lastReturn = nil
    } else {
      lastReturn = report.at
    }
    lastAction = report.at
    coolSince = nil
    let (measure, what) = Self.difference(old, setting, labels)
    return GovernorAction(
      at: report.at, measure: measure, setting: setting, isReturn: direction < 0, what: what, cause: cause)
  }

  private static func difference(
    _ old: GovernorSetting, _ new: GovernorSetting, _ labels: [String]
  ) -> (GovernorAction.Measure, String) {
    if old.plan != new.plan {
      return (.plan(new.plan), "plan '\(labels[new.plan])' instead of '\(labels[old.plan])'")
    }
    if old.queue != new.queue {
      let frames = new.queue == 1 ? "only the newest frame waits" : "\(new.queue) frames may wait"
      return (.drop(keeping: new.queue), frames)
    }
    return (.rate(new.rate), "\(HumanReadable.percent(new.rate, decimals: 0)) of the frames")
  }

  private static func text(_ headroom: Double) -> String { HumanReadable.fixed(headroom, decimals: 2) }

  private static func duration(_ seconds: Double) -> String {
    HumanReadable.seconds(seconds < 120 ? seconds.rounded() : seconds)
  }
}

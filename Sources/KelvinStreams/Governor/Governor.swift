import KelvinBasics
package import KelvinThermal

/// Keeps a stream within the heat that the machine can dissipate. Each thermal report causes at most one action.
///
/// If the costs of the plans and the model of the machine are known, the governor chooses by forecast among the plans of
/// its ladder and all rates from `leastRate` to 1, for most answers below the limit. The forecast is corrected by the
/// measured headroom (`HeatEstimate`).
///
/// - It goes down when headroom would pass the ceiling within half a minute, no sooner than `dwell` after the last
///   action, to a setting that lasts a minute. So a cool machine answers every frame for as long as its heat capacity
///   lasts, and then as many as it can dissipate.
/// - It goes up, no sooner than `recovery` after the last action, to a setting that lasts for ever.
/// - When the machine is throttled nevertheless, it goes down at once, by at least a quarter of the frames.
///
/// Without costs or model, it moves along the ladder's rungs by the thermal state alone
///
/// - downwards at `fair` when the limit will be reached at the present load, and always at `serious`, in both cases no
///   sooner than `dwell` after the last action. On entering `critical` it does so at once, and then again after every
///   `dwell`;
/// - upwards after `recovery` seconds of uninterrupted `nominal`, and no sooner than that after the last action.
///
/// A return that heat reverses within twice that time doubles the next wait, up to `longestRecovery`; a longer one
/// restores it. So a stream that is slightly too hot for a setting tries it ever more rarely. At least `recovery` passes
/// between two returns for any sequence of reports.
///
/// A limit of the power (`Options.mostWatts`) or a deadline causes actions in the same way: `Governor+Limits.swift`.
///
/// A clock that is set back, or silent for longer than `longestSilence`, restarts the wait. Reports with values that
/// are not finite change nothing.
package struct Governor: Sendable, Hashable {
  package struct Options: Sendable, Hashable, Codable {
    /// The shares of arrivals to fall back to, descending, each above 0 and below 1.
    package var rates: [Double]
    package var switchesPlans: Bool
    package var dropsBacklog: Bool
    /// The least seconds between two actions.
    package var dwell: Double
    /// The seconds of `nominal` before a return.
    package var recovery: Double
    package var longestRecovery: Double
    package var longestSilence: Double
    /// The most power of the machine in watts, by the reports; nil for no limit.
    package var mostWatts: Double?
    /// The seconds from a frame's arrival within which its answer is useful; nil for no limit.
    package var deadline: Double?

    package init(
      rates: [Double] = [0.75, 0.5, 0.25], switchesPlans: Bool = true, dropsBacklog: Bool = true, dwell: Double = 10,
      recovery: Double = 60, longestRecovery: Double = 960, longestSilence: Double = 30, mostWatts: Double? = nil,
      deadline: Double? = nil
    ) {
      self.rates = rates
      self.switchesPlans = switchesPlans
      self.dropsBacklog = dropsBacklog
      self.dwell = dwell
      self.recovery = recovery
      self.longestRecovery = longestRecovery
      self.longestSilence = longestSilence
      self.mostWatts = mostWatts
      self.deadline = deadline
    }

    /// - Throws: `StreamError` for values that are out of range.
    func validate() throws(StreamError) {
      let bounded = rates.allSatisfy { $0 > 0 && $0 < 1 }
      guard bounded, zip(rates, rates.dropFirst()).allSatisfy({ $0 > $1 }) else {
        throw StreamError("rates: expected shares between 0 and 1, descending, got \(rates)")
      }
      let seconds = [dwell, recovery, longestRecovery, longestSilence]
      guard seconds.allSatisfy({ $0 > 0 && $0.isFinite }), dwell <= recovery, recovery <= longestRecovery else {
        throw StreamError(
          "expected 0 < dwell <= recovery <= longest recovery, got \(dwell), \(recovery), \(longestRecovery)")
      }
      for (name, limit) in [("power", mostWatts), ("deadline", deadline)] {
        guard let limit, !(limit > 0 && limit.isFinite) else { continue }
        throw StreamError("the limit of the \(name): expected above 0, got \(limit)")
      }
    }
  }

  package let options: Options
  package let ladder: StreamLadder
  /// The current setting.
  package private(set) var setting: GovernorSetting
  /// The position on the ladder while the governor moves along its rungs.
  package internal(set) var rung = 0
  /// The seconds that the next return requires.
  package private(set) var wait: Double

  var estimate: HeatEstimate?
  var wasThrottled = false
  var lastState = ThermalState.nominal
  var isStateUnexplained = false
  /// The power of the machine and the latest answers since the last action.
  var power = PowerMean()
  var punctuality = Punctuality()
  private(set) var lastAction: Double?
  private var lastReturn: Double?
  private var lastReport: Double?
  private var coolSince: Double?

  package init(_ ladder: StreamLadder, options: Options = .init()) {
    self.options = options
    self.ladder = ladder
    setting = ladder.rungs[0].setting
    wait = options.recovery
  }

  /// Creates a governor with a ladder of every plan in the order given.
  ///
  /// - Throws: the errors of `StreamLadder.init(labels:costs:queue:options:)`.
  package init(
    plans: [String], costs: [StreamCost]? = nil, queue: Int = 1, options: Options = .init()
  ) throws(StreamError) {
    self.init(try StreamLadder(labels: plans, costs: costs, queue: queue, options: options), options: options)
  }

  /// The setting of a cool machine.
  var preferred: GovernorSetting { ladder.rungs[0].setting }

  /// - Returns: the change to make, if any.
  package mutating func update(_ report: ThermalReport) -> GovernorAction? {
    guard report.at.isFinite, report.headroom.isFinite else { return nil }
    observe(report)
    power.add(report)
    if let costs = ladder.costs, let outlook = report.outlook { return step(report, outlook, costs) }
    let entersCritical = report.state == .critical && !wasThrottled
    wasThrottled = report.state == .critical
    if let excess = excessOfPower, hasDwelt(at: report.at) { return step(1, report, excess) }
    switch report.state {
    case .nominal:
      guard rung > 0, let coolSince, report.at - coolSince >= wait, report.at - (lastAction ?? -.infinity) >= wait,
        hasPower(for: rung - 1)
      else { return nil }
      return step(-1, report, "nominal for \(HumanReadable.seconds(report.at - coolSince))")
    case .fair:
      guard hasDwelt(at: report.at), let seconds = report.timeToLimit else { return nil }
      return step(
        1, report, "fair, \(Self.text(heat: report.headroom)) and would reach it in \(Self.duration(seconds))")
    case .serious, .critical:
      guard hasDwelt(at: report.at) || entersCritical else { return nil }
      return step(1, report, "\(report.state.name), \(Self.text(heat: report.headroom))")
    }
  }

  /// Whether the last action is long enough ago for another one downwards.
  func hasDwelt(at now: Double) -> Bool { lastAction.map { now - $0 >= options.dwell } ?? true }

  /// Updates the times that decide the next step. Times after the new time of a clock that was set back are clamped to
  /// it.
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
    guard ladder.rungs.indices.contains(rung + direction) else { return nil }
    rung += direction
    return take(ladder.rungs[rung].setting, isReturn: direction < 0, at: report.at, cause)
  }

  /// Changes the setting.
  mutating func take(
    _ next: GovernorSetting, isReturn: Bool, at now: Double, _ cause: String
  ) -> GovernorAction {
    let (measure, what) = Self.difference(setting, next, ladder.labels)
    setting = next
    if isReturn {
      lastReturn = now
    } else {
      if lastReturn != nil { wait = min(2 * wait, options.longestRecovery) }
      lastReturn = nil
    }
    lastAction = now
    coolSince = nil
    power = PowerMean()
    punctuality = Punctuality()
    return GovernorAction(
      at: now, measure: measure, setting: setting, isReturn: isReturn, what: what, cause: cause)
  }

  /// Returns the most important part of the change, and the whole change in words.
  private static func difference(
    _ old: GovernorSetting, _ new: GovernorSetting, _ labels: [String]
  ) -> (GovernorAction.Measure, String) {
    var measures: [GovernorAction.Measure] = []
    var words: [String] = []
    if old.plan != new.plan {
      measures.append(.plan(new.plan))
      words.append("plan '\(labels[new.plan])' instead of '\(labels[old.plan])'")
    }
    if old.queue != new.queue {
      measures.append(.drop(keeping: new.queue))
      words.append(new.queue == 1 ? "only the newest frame waits" : "\(new.queue) frames may wait")
    }
    if old.rate != new.rate || measures.isEmpty {
      measures.append(.rate(new.rate))
      words.append("\(StreamLadder.text(rate: new.rate)) of the frames")
    }
    return (measures[0], words.joined(separator: " and "))
  }

  static func text(_ headroom: Double) -> String { HumanReadable.fixed(headroom, decimals: 2) }

  static func text(heat headroom: Double) -> String { "heat is \(text(headroom)) of the limit" }

  static func duration(_ seconds: Double) -> String {
    HumanReadable.seconds(seconds < 120 ? seconds.rounded() : seconds)
  }
}

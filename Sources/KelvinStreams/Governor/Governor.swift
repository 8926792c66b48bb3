import KelvinBasics
package import KelvinThermal

/// Keeps a stream within the heat that the machine can dissipate. Each thermal report causes at most one action.
///
/// The settings form a ladder (`StreamLadder`), from the preferred one down: plans that take less energy, then no
/// backlog (only the newest frame may wait), then a smaller share of the arriving frames. The governor leaves a rung
///
/// - downwards at `fair` when the limit will be reached at the present load, and always at `serious`, in both cases no
///   sooner than `dwell` after the last action. On entering `critical` it does so at once, and then again after every
///   `dwell`;
/// - upwards after `recovery` seconds of uninterrupted `nominal`, and no sooner than that after the last action. If the
///   power of the plans and the model of the machine are known, the limit must not be reached within the same time
///   again.
///
/// A return that heat reverses within twice that time doubles the next wait, up to `longestRecovery`; a longer one
/// restores it. So a stream that is slightly too hot for a rung tries it ever more rarely. At least `recovery` passes
/// between two returns for any sequence of reports.
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
    }
  }

  package let options: Options
  package let ladder: StreamLadder
  /// The position on the ladder.
  package private(set) var rung = 0
  /// The seconds of `nominal` that the next return requires.
  package private(set) var wait: Double

  private var lastAction: Double?
  private var lastReturn: Double?
  private var lastReport: Double?
  private var coolSince: Double?
  private var wasCritical = false

  package init(_ ladder: StreamLadder, options: Options = .init()) {
    self.options = options
    self.ladder = ladder
    wait = options.recovery
  }

  /// Creates a governor with a ladder of every plan in the order given.
  ///
  /// - Throws: the errors of `StreamLadder.init(labels:watts:queue:options:)`.
  package init(
    plans: [String], watts: [Double]? = nil, queue: Int = 1, options: Options = .init()
  ) throws(StreamError) {
    self.init(try StreamLadder(labels: plans, watts: watts, queue: queue, options: options), options: options)
  }

  /// The current setting.
  package var setting: GovernorSetting { ladder.rungs[rung].setting }

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
        report.at - (lastAction ?? -.infinity) >= wait, affords(ladder.rungs[rung - 1], report)
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

  /// Whether the machine can run with this rung for as long as the governor waits.
  private func affords(_ rung: StreamLadder.Rung, _ report: ThermalReport) -> Bool {
    guard let watts = rung.watts, let outlook = report.outlook else { return true }
    return outlook.timeToLimit(dynamicWatts: watts) >= wait
  }

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
    let (measure, what) = Self.difference(old, setting, ladder.labels)
    return GovernorAction(
      at: report.at, measure: measure, setting: setting, isReturn: direction < 0, what: what, cause: cause)
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
      words.append("\(HumanReadable.percent(new.rate, decimals: 0)) of the frames")
    }
    return (measures[0], words.joined(separator: " and "))
  }

  private static func text(_ headroom: Double) -> String { HumanReadable.fixed(headroom, decimals: 2) }

  private static func duration(_ seconds: Double) -> String {
    HumanReadable.seconds(seconds < 120 ? seconds.rounded() : seconds)
  }
}

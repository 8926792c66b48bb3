import KelvinBasics
import KelvinThermal

extension Governor {
  /// The distance of the forecast from the limit, without ripple, and the differences between three headrooms: the one
  /// that the forecast may reach, the one for which a lower setting is chosen, and the one for which a higher setting
  /// is. The differences keep the governor from going back and forth.
  private static let (margin, spread) = (0.01, 0.005)
  /// The distance from the limit as a multiple of the ripple that was seen.
  private static let rippleFactor = 1.5
  /// The seconds for which the present setting must last, and for which a lower one is chosen.
  private static let (reaction, horizon) = (30.0, 60.0)
  /// The relative change of power or answers below which a step is not worth its disturbance.
  private static let leastChange = 0.01
  /// The factor of the rate when the machine is throttled although the forecast was below the limit.
  private static let protection = 0.75
  /// The least share of arrivals that is taken.
  static let leastRate = 0.05

  /// Chooses by the forecast: the setting that answers most frames while headroom stays below the limit.
  mutating func step(_ report: ThermalReport, _ outlook: ThermalOutlook, _ costs: [StreamCost]) -> GovernorAction? {
    let present = (
      watts: costs[setting.plan].watts(rate: setting.rate), answers: costs[setting.plan].answers(rate: setting.rate)
    )
    if estimate?.precedes(report, outlook, longestSilence: options.longestSilence) != true {
      estimate = HeatEstimate(outlook, at: report.at)
    }
    estimate?.advance(to: report, load: outlook.load, watts: present.watts)
    guard let estimate else { return nil }
    let isThrottled = showsThrottling(report)
    let entersThrottling = isThrottled && !wasThrottled
    wasThrottled = isThrottled
    func cause(_ reason: String, _ next: GovernorSetting) -> String {
      let cost = costs[next.plan]
      return reason + Self.text(expected: cost.answers(rate: next.rate), insteadOf: present.answers)
        + Self.text(watts: cost.watts(rate: next.rate), insteadOf: present.watts)
    }

    let ceiling = 1 - max(Self.margin, Self.rippleFactor * estimate.ripple)
    let load = estimate.load(watts: present.watts)
    let excess = excessOfPower
    if hasDwelt(at: report.at) || entersThrottling,
      isThrottled || excess != nil
        || load > estimate.model.largestLoad(below: ceiling, from: options.dwell, until: Self.reaction)
    {
      let lasting = min(
        ceiling - Self.spread, estimate.model.largestLoad(below: ceiling, from: options.dwell, until: Self.horizon))
      let budget = max(
        lasting, estimate.model.largestLoad(below: ceiling - Self.spread, from: options.dwell, until: Self.horizon))
      var next = best(costs, watts: min(estimate.watts(load: budget), powerBudget(present.watts)))
      if isThrottled, next.plan == setting.plan {
        next = rated(costs, next.plan, min(next.rate, Self.protection * setting.rate))
      }
      guard costs[next.plan].watts(rate: next.rate) < (1 - Self.leastChange) * present.watts else { return nil }
      let heat = Self.text(heat: report.headroom)
      let forecast =
        report.headroom < ceiling - 0.005
        ? "\(heat) and would pass \(Self.text(ceiling)) within \(HumanReadable.seconds(Self.reaction))"
        : "\(heat); above \(Self.text(ceiling)), short peaks would reach the limit"
      let reason = isThrottled ? "\(report.state.name), \(heat)" : excess ?? forecast
      return take(next, isReturn: false, at: report.at, cause(reason, next))
    }
    guard setting != preferred, !isThrottled, let lastAction, report.at - lastAction >= wait else { return nil }
    let lasting = estimate.model.largestLoad(below: ceiling - 2 * Self.spread, from: options.dwell, until: .infinity)
    let next = best(
      costs, watts: min(estimate.watts(load: lasting), powerBudget(present.watts, isReturn: true)), isReturn: true)
    let answers = costs[next.plan].answers(rate: next.rate)
    guard
      answers > (1 + Self.leastChange) * present.answers
        || next.plan < setting.plan && answers >= (1 - Self.leastChange) * present.answers
    else { return nil }
    let reason = "\(Self.text(heat: report.headroom)) and is expected to stay below it"
    return take(next, isReturn: true, at: report.at, cause(reason, next))
  }

  /// Whether the hardware or the kernel slows the machine down: headroom is at the limit, throttle events were counted,
  /// or the state has risen above the one of the headroom, because of the clock or a stated reason.
  private mutating func showsThrottling(_ report: ThermalReport) -> Bool {
    if report.state < max(lastState, .serious) {
      isStateUnexplained = false
    } else if report.state > lastState {
      isStateUnexplained = report.state > ThermalStateFilter.classify(headroom: report.headroom, clockRatio: 1)
    }
    lastState = report.state
    return report.headroom >= 1 || report.throttleEvents > 0 || isStateUnexplained
  }

  /// Returns the setting that answers most frames within a power above idle.
  ///
  /// Of the plans that answer at least 99 % of the most, it is the most preferred: quality before a few frames. Plans
  /// that miss the deadline count only if all do. If no plan fits, it is the least rate of the plan with the least
  /// power.
  func best(_ costs: [StreamCost], watts: Double, isReturn: Bool = false) -> GovernorSetting {
    let settings = punctualPlans(costs, isReturn: isReturn).map { rated(costs, $0, costs[$0].rate(watts: watts)) }
    func answers(_ setting: GovernorSetting) -> Double { costs[setting.plan].answers(rate: setting.rate) }
    func draws(_ setting: GovernorSetting) -> Double { costs[setting.plan].watts(rate: setting.rate) }
    let fitting = settings.filter { draws($0) <= watts }
    guard let most = fitting.map(answers).max() else {
      return settings.min { draws($0) < draws($1) } ?? preferred
    }
    return fitting.first { answers($0) >= (1 - Self.leastChange) * most } ?? preferred
  }

  /// Returns a setting with a rate in steps of half a percent, rounded down. If a plan does not keep up with the
  /// frames that are taken, waiting would only make answers older, so only the newest frame waits.
  func rated(_ costs: [StreamCost], _ plan: Int, _ rate: Double) -> GovernorSetting {
    let least = options.rates.isEmpty ? 1 : Self.leastRate
    let rate = max(least, (min(rate, 1) * 200 + 1e-9).rounded(.down) / 200)
    let keepsUp = rate <= costs[plan].fullRate || plan == preferred.plan
    return GovernorSetting(plan: plan, rate: rate, queue: options.dropsBacklog && !keepsUp ? 1 : preferred.queue)
  }

  static func text(expected answers: Double, insteadOf old: Double) -> String {
    let changed = abs(answers - old) > 0.005 * old
    return "; expected: \(HumanReadable.significant(answers))"
      + (changed ? " instead of \(HumanReadable.significant(old))" : "") + " frames/s"
  }

  private static func text(watts: Double, insteadOf old: Double) -> String {
    let change = watts - old
    guard abs(change) > 0.005 * old else { return "" }
    return ", \(HumanReadable.significant(abs(change))) W \(change < 0 ? "less" : "more")"
  }
}

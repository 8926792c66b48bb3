package import KelvinMeasurements

/// The settings by which a stream runs.
package struct GovernorSetting: Sendable, Hashable, Codable {
  /// The index of the plan; 0 is the preferred one.
  package var plan: Int
  /// The share of the arriving frames that are taken, above 0, at most 1.
  package var rate: Double
  /// The number of frames that may wait; one more arrival drops the oldest waiting frame.
  package var queue: Int

  package init(plan: Int = 0, rate: Double = 1, queue: Int = 1) {
    self.plan = plan
    self.rate = rate
    self.queue = queue
  }

  /// Whether the arrival with this index (from 0) is taken. Taken arrivals are distributed evenly: those at which ⌊(i +
  /// 1) rate⌋ increases.
  package func takes(arrival: Int) -> Bool {
    rate >= 1 || (Double(arrival + 1) * rate).rounded(.down) > (Double(arrival) * rate).rounded(.down)
  }
}

/// A change of a running stream, with its cause.
package struct GovernorAction: Sendable, Hashable, Codable {
  package enum Measure: Sendable, Hashable, Codable {
    /// The share of arrivals that are taken from now on.
    case rate(Double)
    /// The number of frames that may wait from now on; older ones are dropped.
    case drop(keeping: Int)
    /// The index of the plan that runs from now on.
    case plan(Int)
  }

  /// Seconds on the caller's clock.
  package var at: Double
  package var measure: Measure
  /// The setting from now on.
  package var setting: GovernorSetting
  /// Whether the change goes back to a preferred setting.
  package var isReturn: Bool
  /// The change in words, e.g. `plan 'cpu-only' instead of 'all'`.
  package var what: String
  /// The cause in words, e.g. `fair, heat is 0.78 of the limit and would reach it in 42 s`.
  package var cause: String

  package init(
    at: Double, measure: Measure, setting: GovernorSetting, isReturn: Bool, what: String, cause: String
  ) {
    (self.at, self.measure, self.setting) = (at, measure, setting)
    (self.isReturn, self.what, self.cause) = (isReturn, what, cause)
  }

  /// The change and its cause in one line.
  package var text: String { "\(what): \(cause)" }
}

extension Trace {
  /// Records an action as a mark and a counter.
  package mutating func record(_ action: GovernorAction) {
    marks.append(
      TraceMark(name: "governor: \(action.what)", at: action.at, details: ["cause": action.cause]))
    counters.append(
      TraceCounter(
        name: "governor", at: action.at,
        values: [
          "plan": Double(action.setting.plan), "rate": action.setting.rate, "queue": Double(action.setting.queue),
        ]))
  }
}

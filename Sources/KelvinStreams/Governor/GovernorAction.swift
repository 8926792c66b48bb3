package import KelvinMeasurements

/// How a stream is run at the moment.
package struct GovernorSetting: Sendable, Hashable, Codable {
  /// Position among the precomputed plans; 0 is the preferred one.
  package var plan: Int
  /// Share of the arriving frames that are taken, above 0, at most 1.
  package var rate: Double
  /// Frames that may wait; when one more arrives, the oldest waiting one is dropped.
  package var queue: Int

  package init(plan: Int = 0, rate: Double = 1, queue: Int = 1) {
    self.plan = plan
    self.rate = rate
    self.queue = queue
  }

  /// Whether the arrival with this number (from 0) is taken. Taken ones are spread evenly: ⌊(i + 1) rate⌋ grows.
  package func takes(arrival: Int) -> Bool {
    rate >= 1 || (Double(arrival + 1) * rate).rounded(.down) > (Double(arrival) * rate).rounded(.down)
  }
}

/// One change of a running stream, with its cause.
package struct GovernorAction: Sendable, Hashable, Codable {
  package enum Measure: Sendable, Hashable, Codable {
    /// The share of arrivals that are taken from now on.
    case rate(Double)
    /// The frames that may wait from now on; older ones are dropped.
    case drop(keeping: Int)
    /// The plan that runs from now on.
    case plan(Int)
  }

  /// Seconds on the caller's clock.
  package var at: Double
  package var measure: Measure
  /// What holds from now on.
  package var setting: GovernorSetting
  /// Away from heat, or back.
  package var isReturn: Bool
  /// In words, e.g. `plan 'cpu-only' instead of 'all'`.
  package var what: String
  /// In words, e.g. `fair, headroom 0.78, at the limit in 42 s`.
  package var cause: String

  /// Both in one line.
  package var text: String { "\(what): \(cause)" }
}

extension Trace {
  /// The mark and the counter that an action leaves in a trace.
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

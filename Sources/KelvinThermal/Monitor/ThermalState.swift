/// The thermal state of a device, with the meaning of Apple's `ProcessInfo.ThermalState`.
package enum ThermalState: Int, Sendable, Hashable, Codable, Comparable, CaseIterable {
  /// Within normal limits.
  case nominal = 0
  /// Slightly elevated: defer background work.
  case fair = 1
  /// High: moderate measures cost performance; use less CPU, GPU and I/O, lower the frame rate.
  case serious = 2
  /// Significant measures are in force: use the minimum.
  case critical = 3

  package static func < (a: ThermalState, b: ThermalState) -> Bool { a.rawValue < b.rawValue }

  package var name: String {
    switch self {
    case .nominal: "nominal"
    case .fair: "fair"
    case .serious: "serious"
    case .critical: "critical"
    }
  }
}

/// Converts headroom and clock ratio to a state with hysteresis.
///
/// nominal: h < 0.70 and r ≥ 0.97; fair: h < 0.85 and r ≥ 0.90; serious: h < 1.0 and r ≥ 0.75; else critical. A cooler
/// state requires a margin of 0.03 in both. Any change must persist for five seconds, except that critical is entered
/// at once.
package struct ThermalStateFilter: Sendable, Hashable {
  /// The upper headroom limits of nominal, fair and serious.
  package static let headroomLimits = [0.70, 0.85, 1.00]
  package static let hysteresis = 0.03
  package static let dwell = 5.0

  package private(set) var state: ThermalState
  private var candidate: ThermalState
  private var candidateSince: Double

  package init(state: ThermalState = .nominal, at now: Double = 0) {
    self.state = state
    candidate = state
    candidateSince = now
  }

  /// Returns the state of a single reading.
  ///
  /// - Parameter margin: subtracted from every headroom threshold and added to every clock threshold.
  package static func classify(headroom: Double, clockRatio: Double, margin: Double = 0) -> ThermalState {
    func within(_ limit: Double, _ clock: Double) -> Bool {
      headroom < limit - margin && clockRatio >= min(clock + margin, 1)
    }
    if within(headroomLimits[0], 0.97) { return .nominal }
    if within(headroomLimits[1], 0.90) { return .fair }
    if within(headroomLimits[2], 0.75) { return .serious }
    return .critical
  }

  /// - Parameters:
  ///   - now: seconds on the caller's clock. A clock that jumps backwards restarts the dwell.
  ///   - headroom: 1.0 is the limit. NaN keeps the state.
  ///   - clockRatio: effective over reference clock; 1 when unknown.
  ///   - floor: the state cannot be cooler than this, e.g. while throttle events are being counted.
  package mutating func update(
    at now: Double, headroom: Double, clockRatio: Double = 1, floor: ThermalState = .nominal
  ) -> ThermalState {
    guard headroom.isFinite, clockRatio.isFinite, now.isFinite else { return state }
    let plain = max(Self.classify(headroom: headroom, clockRatio: clockRatio), floor)
    let cautious = max(Self.classify(headroom: headroom, clockRatio: clockRatio, margin: Self.hysteresis), floor)
    let due = plain >= state ? plain : min(cautious, state)
    if due == state {
      candidate = state
      candidateSince = now
    } else if due == .critical {
      adopt(due, at: now)
    } else if candidate == state || (due > state) != (candidate > state) || now < candidateSince {
      candidate = due
      candidateSince = now
    } else {
      candidate = due
      if now - candidateSince >= Self.dwell { adopt(due, at: now) }
    }
    return state
  }

  private mutating func adopt(_ new: ThermalState, at now: Double) {
    state = new
    candidate = new
    candidateSince = now
  }
}

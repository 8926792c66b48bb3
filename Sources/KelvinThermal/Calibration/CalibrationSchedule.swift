/// A step of load between two rests, in seconds, from which both time constants of a machine can be determined.
///
/// The fast path responds within the first seconds of each edge; the slow path shapes the rest of the rise and of the
/// fall. The first rest shows heat left from before, and the second is as informative as the load itself.
package struct CalibrationSchedule: Sendable, Hashable {
  package enum Phase: String, Sendable, Hashable, CaseIterable {
    case rest
    case load = "full load"
    case cooling = "rest again"
  }

  /// Seconds of full load.
  package var load: Double

  /// The default load, sufficient for slow paths of up to five minutes.
  package static let usualLoad = 240.0
  /// The shortest load: below, even a machine without a heat sink does not show its slow path.
  package static let shortestLoad = 20.0

  package init(load: Double = usualLoad) { self.load = load }

  package var rest: Double { min(60, load / 4) }
  package var cooling: Double { 0.75 * load }
  /// The duration of the whole schedule.
  package var seconds: Double { rest + load + cooling }

  /// - Parameter time: seconds from the beginning.
  package func phase(at time: Double) -> Phase {
    if time < rest { return .rest }
    return time < rest + load ? .load : .cooling
  }
}

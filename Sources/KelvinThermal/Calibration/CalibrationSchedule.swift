/// One step of load between two rests, in seconds: what tells both time constants of a machine apart.
///
/// The fast path answers within the first seconds of each edge; the slow one bends the rest of the rise and of the fall.
/// Rest before the step shows what was warm already, and rest behind it is as good a measurement as the load itself.
package struct CalibrationSchedule: Sendable, Hashable {
  package enum Phase: String, Sendable, Hashable, CaseIterable {
    case rest
    case load = "full load"
    case cooling = "rest again"
  }

  /// Seconds of full load.
  package var load: Double

  /// Serves slow paths of up to five minutes.
  package static let usualLoad = 240.0
  /// Below this even a machine without a heat sink has not shown its slow path.
  package static let shortestLoad = 20.0

  package init(load: Double = usualLoad) { self.load = load }

  package var rest: Double { min(60, load / 4) }
  package var cooling: Double { 0.75 * load }
  /// Of the whole.
  package var seconds: Double { rest + load + cooling }

  /// - Parameter time: seconds from the beginning.
  package func phase(at time: Double) -> Phase {
    if time < rest { return .rest }
    return time < rest + load ? .load : .cooling
  }
}

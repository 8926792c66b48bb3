import KelvinGraph
import KelvinMeasurements
import KelvinRuntime
import Synchronization

/// Records the time at which a compilation reaches each node, to compute the time of each node.
final class CompilationTimer: Sendable {
  private struct Step {
    var progress: Double
    var time: Double
  }

  private let steps = Mutex<[Step]>([])
  private let clock: any MeasurementClock

  init(clock: any MeasurementClock) { self.clock = clock }

  var observer: CompiledModel.Observer {
    CompiledModel.Observer(progress: { [self] progress in
      let now = clock.now()
      steps.withLock { $0.append(Step(progress: progress, time: now)) }
    })
  }

  /// Returns the compilation seconds of each node, by name. A device that expands fused nodes compiles other nodes than
  /// the segment's; then the segment's time is divided evenly.
  func seconds(_ schedule: Schedule, end: Double) -> [String: Double] {
    let steps = steps.withLock { $0 }
    let count = schedule.segments.count
    var seconds: [String: Double] = [:]
    for (index, segment) in schedule.segments.enumerated() {
      let own = steps.filter { Int(($0.progress * Double(count)) + 1e-9) == index }
      guard let first = own.first else { continue }
      let last = steps.first { Int(($0.progress * Double(count)) + 1e-9) > index }?.time ?? end
      let names = segment.graph.nodes.map(\.name)
      // The first step belongs to the segment, before its first node.
      let begins = own.dropFirst().map(\.time)
      if begins.count == names.count {
        for (name, span) in zip(names, zip(begins, begins.dropFirst() + [last])) { seconds[name] = span.1 - span.0 }
      } else {
        for name in names { seconds[name] = (last - first.time) / Double(names.count) }
      }
    }
    return seconds
  }
}

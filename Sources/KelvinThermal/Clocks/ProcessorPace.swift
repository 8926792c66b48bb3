import Dispatch
import KelvinMeasurements
import Synchronization

/// The pace of the processors: how fast threads of this process advance beside everything else that runs.
///
/// A busy neighbour, the hypervisor and a lower clock all slow it. An inference on several threads waits for the
/// slowest, so the slowest counts.
package enum ProcessorPace {
  /// The seconds that one measurement takes.
  package static let seconds = 0.05

  /// Returns the steps per second of the slowest of some threads that compute at the same time.
  package static func measure(threads: Int) -> Double {
    let probe = ClockProbe(steps: 10_000, repeats: 1)
    let slowest = Mutex(Double.infinity)
    DispatchQueue.concurrentPerform(iterations: max(1, threads)) { _ in
      let began = MonotonicClock.now()
      var (steps, elapsed) = (0, 0.0)
      repeat {
        if probe.measure() > 0 { steps += probe.steps }
        elapsed = MonotonicClock.now() - began
      } while elapsed < seconds
      let pace = Double(steps) / elapsed
      slowest.withLock { $0 = min($0, pace) }
    }
    return slowest.withLock(\.self)
  }
}

import Dispatch
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinRuntime
import Synchronization

/// Measures whether two devices gain by working simultaneously: each runs the model alone, then both run it
/// concurrently for about the same time.
struct CorunProbe {
  let clock: any MeasurementClock
  /// Seconds for the pair.
  let budget: Double

  /// A session that only one thread at a time uses.
  private struct Borrowed: @unchecked Sendable {
    let session: Session
    let inputs: [Tensor]

    func run(_ cancellation: Cancellation?) throws(RuntimeError) {
      try session.write(inputs)
      try session.run(cancellation)
    }
  }

  /// Returns the seconds that the fewest measurements of two devices are expected to take.
  static func seconds(_ a: DeviceMeasurement, _ b: DeviceMeasurement) -> Double {
    let longest = max(a.inference, b.inference)
    return a.inference + b.inference + Double(fewestFactors) * 3 * longest
  }

  private static let fewestFactors = 3
  /// The measurements after which a result that is certain enough, and one that is not, are taken as they are.
  private static let (enoughFactors, mostFactors) = (9, 64)
  /// The relative uncertainty from which a result is noisy.
  private static let uncertain = 0.1

  /// - Returns: nil when cancelled before anything was measured.
  /// - Throws: the errors of a session.
  func measure(
    _ a: DeviceMeasurement, _ b: DeviceMeasurement, _ cancellation: Cancellation?
  ) throws(RuntimeError) -> CorunFactor? {
    let (first, second) = (
      Borrowed(session: a.session, inputs: a.inputs), Borrowed(session: b.session, inputs: b.inputs)
    )
    let single = (try seconds(first, 1, cancellation), try seconds(second, 1, cancellation))
    let longest = max(single.0, single.1)
    // Both parts take about the same time; otherwise the longer one's remainder would hide the gain.
    let counts = (
      Self.count(longest, single.0), Self.count(longest, single.1)
    )
    let deadline = clock.now() + budget
    var factors: [Double] = []
    while factors.count < Self.fewestFactors || (clock.now() < deadline && !Self.suffices(factors)) {
      if cancellation?.isCancelled == true { break }
      let alone = (try seconds(first, counts.0, cancellation), try seconds(second, counts.1, cancellation))
      let together = try both(first, counts.0, second, counts.1, cancellation)
      if together > 0 { factors.append((alone.0 + alone.1) / together) }
      if clock.now() > deadline + budget { break }
    }
    guard let statistics = try? LatencyStatistics(factors), statistics.median > 0 else { return nil }
    return CorunFactor(
      a: a.device.info.id, b: b.device.info.id, factor: statistics.median, samples: factors.count,
      isNoisy: !(statistics.relativeUncertainty <= Self.uncertain))
  }

  private static func suffices(_ factors: [Double]) -> Bool {
    factors.count >= mostFactors
      || factors.count >= enoughFactors
        && (try? LatencyStatistics(factors)).map { $0.relativeUncertainty <= uncertain } ?? false
  }

  private static func count(_ longest: Double, _ own: Double) -> Int {
    own > 0 ? max(1, Int(min(1000, (longest / own).rounded()))) : 1
  }

  private func seconds(_ borrowed: Borrowed, _ count: Int, _ cancellation: Cancellation?) throws(RuntimeError) -> Double
  {
    try clock.time { () throws(RuntimeError) in for _ in 0..<count { try borrowed.run(cancellation) } }
  }

  private func both(
    _ a: Borrowed, _ countA: Int, _ b: Borrowed, _ countB: Int, _ cancellation: Cancellation?
  ) throws(RuntimeError) -> Double {
    let failure = FailureBox()
    let elapsed = clock.time {
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        let (borrowed, count) = index == 0 ? (a, countA) : (b, countB)
        do throws(RuntimeError) {
          for _ in 0..<count { try borrowed.run(cancellation) }
        } catch { failure.set(error) }
      }
    }
    if let error = failure.error { throw error }
    return elapsed
  }
}

/// The first error of several threads.
private final class FailureBox: Sendable {
  private let first = Mutex<RuntimeError?>(nil)

  var error: RuntimeError? { first.withLock { $0 } }

  func set(_ error: RuntimeError) { first.withLock { $0 = $0 ?? error } }
}

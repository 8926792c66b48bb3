import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

/// A plan of several devices, run without timers in turns with the devices alone.
final class PlanMeasurement: Disturbable {
  struct Sample {
    var seconds: Double
    /// The seconds that each device alone took in the same round; empty until the round ends.
    var beside: [String: Double] = [:]
    var isUndisturbed = true
  }

  let solution: PlanSolution
  private let session: Session
  private(set) var samples: [Sample] = []
  /// The reason for which the plan failed; nil while it takes part.
  private(set) var failure: String?

  /// - Parameter memory: the memory of the session, which it shares with other plans that run in turns.
  init(
    _ solution: PlanSolution, _ context: ModelContext, _ request: PlanRequest, inputs: [Tensor],
    memory: ExecutionContext
  ) throws {
    self.solution = solution
    // Predictions add up costs, so hand-over is fitted to runs whose devices take turns.
    session = try context.compile(
      solution, precision: request.precision, threads: request.threads, overlaps: false
    ).makeSession(in: memory)
    _ = try session.run(inputs)
  }

  var sampleCount: Int { samples.count }

  func markDisturbed(from index: Int) {
    for index in index..<samples.count { samples[index].isUndisturbed = false }
  }

  /// Measures one inference, after an uncounted one that finds cold caches and parked workers.
  ///
  /// - Throws: only `cancelled`; any other error ends the plan's part.
  func measure(
    _ inputs: [Tensor], clock: any MeasurementClock, _ cancellation: Cancellation?
  ) throws(RuntimeError) {
    guard failure == nil else { return }
    do throws(RuntimeError) {
      try session.write(inputs)
      try session.run(cancellation)
      try session.write(inputs)
      let seconds = try clock.time { () throws(RuntimeError) in try session.run(cancellation) }
      samples.append(Sample(seconds: seconds))
    } catch {
      if case .cancelled = error { throw error }
      failure = "\(error)"
    }
  }

  /// - Parameter beside: the seconds that each device alone took in this round.
  func endRound(beside: [String: Double]) {
    guard let last = samples.indices.last, samples[last].beside.isEmpty else { return }
    samples[last].beside = beside
  }

  /// Returns the samples that count: the undisturbed ones if there are enough, else all.
  func counted(atLeast enough: Int) -> (samples: [Sample], areUndisturbed: Bool) {
    let quiet = samples.filter(\.isUndisturbed)
    return quiet.count >= enough || quiet.count == samples.count ? (quiet, true) : (samples, false)
  }

  /// Returns the seconds that count, normalized to the usual pace of the machine, so that changes between rounds cancel
  /// out.
  ///
  /// - Parameter usual: the seconds that each device alone usually takes.
  func seconds(
    atLeast enough: Int, usual: [String: Double]
  ) -> (seconds: [Double], areUndisturbed: Bool) {
    let (samples, areUndisturbed) = counted(atLeast: enough)
    let seconds = samples.map { sample in
      sample.seconds * sample.beside.compactMap { id, seconds in usual[id].map { $0 / seconds } }.geometricMean
    }
    return (seconds, areUndisturbed)
  }
}

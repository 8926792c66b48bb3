import KelvinBasics
import KelvinMeasurements
package import KelvinStreams
package import KelvinThermal

extension BenchmarkResult {
  /// Virtual seconds where none are asked for: half an hour, by which every shipped envelope has settled.
  package static let simulatedSeconds = 1800.0

  /// The stream of this workload on a machine of another class, with the plans that were measured here.
  ///
  /// Seconds for each frame stay those of this machine, as the stream was paced; joules are carried over
  /// (`StreamPlan.carriedOver`), and the plan's source says how.
  ///
  /// - Parameters:
  ///   - machine: the envelope by which energies were estimated here.
  ///   - seconds: of virtual time.
  ///   - coLoad: share of the machine that somebody else keeps busy meanwhile; not while it was measured.
  /// - Throws: `invalidRequest` where no configuration was measured, or for a stream that cannot be simulated.
  package func simulated(
    on envelope: ThermalEnvelope, from machine: ThermalEnvelope, seconds: Double = simulatedSeconds, coLoad: Double = 0,
    seed: UInt64 = 0
  ) throws(BenchmarkError) -> StreamComparison {
    guard workload.kind == .stream else {
      throw .invalidRequest("only a stream can be simulated on an envelope, not \(workload.name)")
    }
    let plans = configurations.compactMap { configuration -> StreamPlan? in
      let paced = configuration.sustained
      guard let seconds = paced?.secondsPerFrame ?? configuration.warm?.p50 else { return nil }
      return .carriedOver(
        label: configuration.label, secondsPerFrame: max(seconds, 1e-7), joules: paced?.joulesPerInference,
        source: paced?.energySource ?? "", isMeasured: paced?.isEnergyMeasured ?? false, on: self.machine,
        from: machine, to: envelope)
    }
    guard !plans.isEmpty else {
      throw .invalidRequest("no configuration was measured, so there is nothing to simulate")
    }
    do {
      return try StreamComparison(
        StreamSimulation(
          envelope: envelope, plans: plans.sorted { $0.joulesPerFrame > $1.joulesPerFrame },
          stream: .init(
            framesPerSecond: workload.framesPerSecond, queue: workload.queue, duration: seconds,
            coLoad: coLoad),
          seed: seed))
    } catch {
      throw .invalidRequest(error.description)
    }
  }
}

import KelvinBasics
import KelvinMeasurements
package import KelvinStreams
package import KelvinThermal

extension BenchmarkResult {
  /// The default duration in virtual seconds. Every shipped envelope has settled within half an hour.
  package static let simulatedSeconds = 1800.0

  /// Simulates this workload's stream on a machine of another class, with the plans that were measured here.
  ///
  /// Seconds per frame remain those of this machine, measured at the stream's rate. Joules are converted by
  /// `StreamPlan.carriedOver`, and the plan's source states how.
  ///
  /// - Parameters:
  ///   - machine: the envelope by which energies were estimated on this machine.
  ///   - seconds: the duration in virtual time.
  ///   - coLoad: the share of the simulated machine that other work keeps busy; 0 during the measurement.
  /// - Throws: `invalidRequest` when no configuration was measured, or when the stream cannot be simulated.
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
        label: configuration.label, secondsPerFrame: max(seconds, 1e-7), joules: paced?.energy.atMost,
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

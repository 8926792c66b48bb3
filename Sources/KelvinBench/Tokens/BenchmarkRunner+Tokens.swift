import KelvinMeasurements
import KelvinProfiler
import KelvinRuntime
import KelvinStreams
import KelvinThermal

extension BenchmarkRunner {
  /// Measures sequences of tokens: one of each configuration after loading, then more of them in turns.
  func runTokens(_ candidates: [BenchmarkCandidate], beside load: any BackgroundLoad) throws {
    live.begin("tokens", .sustained)
    var slowest = 0.0
    for candidate in candidates {
      live.advance(0, candidate.configuration.label)
      try attempt(candidate) {
        try candidate.loadReader(subject.tokenReader)
        let run = try sequence(of: candidate)
        journal.add(.memory(configuration: candidate.index, text: candidate.reader?.memory ?? ""))
        journal.add(.tokens(configuration: candidate.index, run: run, energy: nil))
        slowest = max(slowest, FrameSlice(run).elapsed)
      }
    }
    let sequences = max(PairedComparison.fewestPairs, Int(min(workload.duration / max(slowest, 1e-3), 1000)))
    var heat = HeatLog(ThermalMonitor(files: files, envelope: envelope, probe: ClockProbe(repeats: 2)), at: clock.now())
    var meter = EnergyMeter(
      counters: EnergyCounters(files: files), envelope: envelope, cores: machine.logicalCores, idle: idlePower,
      clock: clock,
      othersSeconds: { load.ownProcessorSeconds })
    let seconds = slowest * Double(sequences * candidates.count)
    live.expect(.sustained, EstimatedSeconds(seconds))
    try runRounds(.sustained, planned: sequences, candidates, undisturbed: undisturbed(seconds)) {
      candidate, round in
      let (offset, began) = (candidate.record.sustainedSeconds, clock.now())
      meter.start()
      let run = try sequence(of: candidate) { [live] run in
        let now = clock.now()
        guard let report = candidate.watchHeat(at: offset + now - began, frame: nil, heat.sample(at: now)) else {
          return
        }
        live.note(
          candidate.configuration.label, latencies: run.seconds.suffix(512), rate: nil, dropped: 0,
          state: report.state.name)
        live.advance(Double(round) / Double(sequences), candidate.configuration.label, isRepeating: round >= sequences)
      }
      let energy = meter.stop(devices: candidate.devices)
      journal.add(.tokens(configuration: candidate.index, run: run, energy: energy))
    }
    for candidate in candidates {
      candidate.weights.map { journal.add(.weights(configuration: candidate.index, weights: $0)) }
    }
  }

  private func sequence(of candidate: BenchmarkCandidate, look: (TokenRun) -> Void = { _ in }) throws -> TokenRun {
    guard let reader = candidate.reader else { preconditionFailure("a reader is loaded before it reads") }
    let cancellation = options.cancellation
    return try TokenRun(
      reader, prompt: try reader.prompt(of: workload.prompt), tokens: workload.tokens, clock: clock
    ) { run in
      try cancellation?.check()
      candidate.idle(after: run.seconds.last ?? 0, clock)
      look(run)
    }
  }
}

extension BenchmarkCandidate {
  /// Loads the model again with this configuration's plan, to read tokens.
  fileprivate func loadReader(_ load: BenchmarkSubject.TokenReaderLoader?) throws {
    guard let load else { throw BenchmarkError.invalidRequest("the model takes no tokens") }
    reader = try load(configuration, try context.plan(explanation, configuration.request), threads)
  }
}

import KelvinMeasurements
import KelvinProfiler
import KelvinRuntime
import KelvinStreams
import KelvinThermal

extension BenchmarkRunner {
  /// Measures sequences of tokens: one of each configuration after loading, then more of them in turns.
  func runTokens(_ contestants: [BenchmarkCandidate], beside load: any BackgroundLoad) throws {
    live.begin("tokens", .sustained)
    var slowest = 0.0
    for contestant in contestants {
      live.advance(0, contestant.configuration.label)
      try attempt(contestant) {
        try contestant.loadReader(subject.tokenReader)
        let run = try sequence(of: contestant)
        journal.add(.memory(configuration: contestant.index, text: contestant.reader?.memory ?? ""))
        journal.add(.tokens(configuration: contestant.index, run: run, energy: nil))
        slowest = max(slowest, FrameSlice(run).elapsed)
      }
    }
    let sequences = max(PairedComparison.fewestPairs, Int(min(workload.duration / max(slowest, 1e-3), 1000)))
    var heat = HeatLog(ThermalMonitor(files: files, envelope: envelope, probe: ClockProbe(repeats: 2)), at: clock.now())
    var meter = EnergyMeter(
      counters: EnergyCounters(files: files), envelope: envelope, cores: machine.logicalCores, clock: clock,
      othersSeconds: { load.ownProcessorSeconds })
    let seconds = slowest * Double(sequences * contestants.count)
    live.expect(.sustained, EstimatedSeconds(seconds))
    try runRounds(.sustained, planned: sequences, contestants, undisturbed: undisturbed(seconds)) {
      contestant, round in
      let (offset, began) = (contestant.record.sustainedSeconds, clock.now())
      meter.start()
      let run = try sequence(of: contestant) { [live] run in
        let now = clock.now()
        guard let report = contestant.watchHeat(at: offset + now - began, frame: nil, heat.sample(at: now)) else {
          return
        }
        live.note(
          contestant.configuration.label, latencies: run.seconds.suffix(512), rate: nil, dropped: 0,
          state: report.state.name)
        live.advance(Double(round) / Double(sequences), contestant.configuration.label, isRepeating: round >= sequences)
      }
      let energy = meter.stop(devices: contestant.devices)
      journal.add(.tokens(configuration: contestant.index, run: run, energy: energy))
    }
    for contestant in contestants {
      contestant.weights.map { journal.add(.weights(configuration: contestant.index, weights: $0)) }
    }
  }

  private func sequence(of contestant: BenchmarkCandidate, look: (TokenRun) -> Void = { _ in }) throws -> TokenRun {
    guard let reader = contestant.reader else { preconditionFailure("a reader is loaded before it reads") }
    let cancellation = options.cancellation
    return try TokenRun(
      reader, prompt: try reader.prompt(of: workload.prompt), tokens: workload.tokens, clock: clock
    ) { run in
      try cancellation?.check()
      contestant.idle(after: run.seconds.last ?? 0, clock)
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

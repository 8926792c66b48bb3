import KelvinBasics
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
import KelvinThermal

/// What a run is expected to take, and what others take of the machine before it begins.
extension BenchmarkRunner {
  /// Seconds of doing nothing by which the machine's other work is seen.
  private static let quiet = 0.3
  /// Share of the processors above which others are worth a word.
  private static let busy = 0.1
  /// Seconds of a complete start before one was measured: of a process, and within this one.
  private static let guessedStart = (process: 0.5, within: 0.1)
  /// Seconds of compiling with everything cached, and of a first inference, before they were measured.
  private static let cachedCompile = 0.05
  /// Seconds of trying plans: they are run for this long, and compiled before.
  private static let trial = 4.0

  /// Says at once where the machine is busy: that costs rounds, and makes intervals wider.
  func lookAround() {
    guard ContentionReader(files).counters() != nil else { return }
    var watch = ContentionWatch(files: files, at: clock.now())
    clock.sleep(until: clock.now() + Self.quiet)
    guard let contention = watch.interval(at: clock.now()) else { return }
    busyShare = min(1, (contention.neighbours ?? contention.utilisation) + contention.steal)
    guard busyShare >= Self.busy else { return }
    let text =
      "the machine is busy: others use \(HumanReadable.percent(busyShare, decimals: 0)) of its processors; the run takes"
      + " at most twice its time on a quiet machine, with fewer rounds and wider intervals"
    journal.add(.note(text))
    options.remark(text)
  }

  /// What a time that was measured now would be on a quiet machine: two that want all of it share it by halves.
  func undisturbed(_ seconds: Double) -> Double { seconds * (1 - busyShare / 2) }

  /// Rivals that are not told apart have their rounds doubled; whether they will be is not known beforehand.
  var furtherRounds: Double { configurations.count > 1 ? 1.3 : 1 }

  /// Before anything is known but what is asked for; then with what plans predict.
  func expectPhases(_ contestants: [BenchmarkCandidate] = []) {
    let count = Double(configurations.count)
    if contestants.isEmpty {
      let tried = configurations.count { candidate in
        candidate.plan == nil && options.triesPlans && candidate.request.goal == .latency
          && ((try? subject.context.planner.devices(for: candidate.request).units.count) ?? 1) > 1
      }
      live.expect(.preparation, EstimatedSeconds(Self.trial, doubt: Self.trial) * Double(tried))
    }
    live.expect(.coldStarts, guessedStarts(workload.coldStarts))
    live.expect(.starts, guessedStarts(workload.starts) * furtherRounds)
    live.expect(
      .warm,
      contestants.isEmpty
        ? EstimatedSeconds(0, doubt: .infinity) : roughWarmSeconds(contestants.map(\.explanation.solution.predicted)))
    if workload.kind == .tokens { live.expect(.warm, EstimatedSeconds(0)) }
    if workload.kind != .oneShot { live.expect(.sustained, EstimatedSeconds(workload.duration * count)) }
    if options.checksAgreement, let reference = subject.context.inventory.reference {
      let seconds = referenceSeconds(reference) * Double(subject.inputs.count)
      if seconds <= options.referenceBudget { live.expect(.agreement, EstimatedSeconds(seconds, doubt: seconds / 2)) }
    }
  }

  /// After a start: a start's first inference says more of warm ones than a plan that rests on estimates, except that
  /// with nothing cached it may wait for a driver that compiles.
  func expectStarts(_ contestants: [BenchmarkCandidate]) {
    guard contestants.contains(where: { !$0.record.coldStarts.isEmpty }) else { return }
    let firsts = contestants.filter(\.isAble).map { contestant in
      contestant.record.starts.map(\.first).min()
        ?? (contestant.record.coldStarts.map(\.first) + [contestant.explanation.solution.predicted]).min() ?? 0
    }
    if workload.kind != .tokens { live.expect(.warm, roughWarmSeconds(firsts)) }
    live.expect(.starts, startsLeft(contestants, isCold: false) * furtherRounds)
  }

  /// The planned starts that are still to be made.
  func startsLeft(_ contestants: [BenchmarkCandidate], isCold: Bool) -> EstimatedSeconds {
    contestants.filter(\.isAble).map(\.record).reduce(.zero) { sum, record in
      let (made, planned) =
        isCold ? (record.coldStarts.count, workload.coldStarts) : (record.starts.count, workload.starts)
      return sum + expectedStart(record, isCold: isCold) * Double(planned - made)
    }
  }

  /// So many starts of every configuration where none was measured: how long drivers compile, nobody knows.
  func guessedStarts(_ count: Int) -> EstimatedSeconds {
    let guess = subject.starter == nil ? Self.guessedStart.within : Self.guessedStart.process
    return EstimatedSeconds(guess, doubt: .infinity) * Double(count * configurations.count)
  }

  /// The mean of a configuration's own so far. Before the first one with something cached, what a cold one took without
  /// the drivers' compiling, which is most of it.
  private func expectedStart(_ record: BenchmarkRecord.Configuration, isCold: Bool) -> EstimatedSeconds {
    let own = (isCold ? record.coldStarts : record.starts).map(\.total)
    guard own.isEmpty else { return EstimatedSeconds(own.reduce(0, +) / Double(own.count)) }
    guard !isCold, let cold = record.coldStarts.min(by: { $0.total < $1.total }) else {
      return guessedStarts(1) * (1 / Double(configurations.count))
    }
    let guess = min(cold.total, cold.launch + cold.load + Self.cachedCompile)
    return EstimatedSeconds(guess, doubt: min(guess, cold.total - guess))
  }

  /// Warm rounds at seconds for an inference that may be twice what it takes.
  private func roughWarmSeconds(_ latencies: [Double]) -> EstimatedSeconds {
    let seconds = warmSeconds(latencies)
    return EstimatedSeconds(seconds, doubt: seconds - warmSeconds(latencies.map { $0 / 2 })) * furtherRounds
  }

  /// Seconds of the planned warm rounds, at these seconds for an inference of each configuration.
  func warmSeconds(_ latencies: [Double]) -> Double {
    let rounds = min(workload.rounds, workload.iterations)
    let queries = (workload.iterations + rounds - 1) / rounds
    return latencies.reduce(0) { sum, latency in
      let turn = max(Double(queries) * latency, workload.warmSeconds / Double(rounds))
      return sum + Double(rounds) * (turn + (latencies.count > 1 ? latency : 0))
    }
  }
}

import KelvinBasics
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
import KelvinThermal

/// The expected duration of a run, and the load of the machine before the run.
extension BenchmarkRunner {
  /// Seconds of idling during which the machine's other load is measured.
  private static let quiet = 0.3
  /// The share of the processors above which the user is told of other load.
  private static let busy = 0.1
  /// Seconds of a complete start before one was measured: in a new process, and within this process.
  private static let guessedStart = (process: 0.5, within: 0.1)
  /// Seconds of compilation with filled caches before it was measured.
  private static let cachedCompile = 0.05
  /// Seconds of trying plans, their compilation included.
  private static let trial = 4.0

  /// Tells the user at once when the machine is busy: a busy machine costs rounds and widens intervals.
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

  /// Converts seconds measured now to a quiet machine, assuming that two loads share a saturated machine equally.
  func undisturbed(_ seconds: Double) -> Double { seconds * (1 - busyShare / 2) }

  /// The factor by which further rounds may lengthen a phase: rounds are doubled when they do not decide a comparison.
  var furtherRounds: Double { configurations.count > 1 ? 1.3 : 1 }

  /// Sets the expected seconds of each phase: from the request alone while `candidates` is empty, then from
  /// predictions of the plans.
  func expectPhases(_ candidates: [BenchmarkCandidate] = []) {
    let count = Double(configurations.count)
    if candidates.isEmpty {
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
      candidates.isEmpty
        ? EstimatedSeconds(0, doubt: .infinity) : roughWarmSeconds(candidates.map(\.explanation.solution.predicted)))
    if workload.kind == .tokens { live.expect(.warm, EstimatedSeconds(0)) }
    if workload.kind != .oneShot { live.expect(.sustained, EstimatedSeconds(workload.duration * count)) }
    if options.checksAgreement, let reference = subject.context.inventory.reference {
      let seconds = referenceSeconds(reference) * Double(subject.inputs.count)
      if seconds <= options.referenceBudget { live.expect(.agreement, EstimatedSeconds(seconds, doubt: seconds / 2)) }
    }
  }

  /// Refines the expected seconds after a start. The first inference of a start predicts warm inferences better than an
  /// estimated plan. With empty caches, it may also include compilation by a driver, so the prediction limits it.
  func expectStarts(_ candidates: [BenchmarkCandidate]) {
    guard candidates.contains(where: { !$0.record.coldStarts.isEmpty }) else { return }
    let firsts = candidates.filter(\.isAble).map { candidate in
      candidate.record.starts.map(\.first).min()
        ?? (candidate.record.coldStarts.map(\.first) + [candidate.explanation.solution.predicted]).min() ?? 0
    }
    if workload.kind != .tokens { live.expect(.warm, roughWarmSeconds(firsts)) }
    live.expect(.starts, startsLeft(candidates, isCold: false) * furtherRounds)
  }

  /// Returns the expected seconds of the planned starts that have not been made.
  func startsLeft(_ candidates: [BenchmarkCandidate], isCold: Bool) -> EstimatedSeconds {
    candidates.filter(\.isAble).map(\.record).reduce(.zero) { sum, record in
      let (made, planned) =
        isCold ? (record.coldStarts.count, workload.coldStarts) : (record.starts.count, workload.starts)
      return sum + expectedStart(record, isCold: isCold) * Double(planned - made)
    }
  }

  /// Returns the expected seconds of starts before one was measured. Their uncertainty is unbounded, because the time
  /// that drivers take to compile is unknown.
  func guessedStarts(_ count: Int) -> EstimatedSeconds {
    let guess = subject.starter == nil ? Self.guessedStart.within : Self.guessedStart.process
    return EstimatedSeconds(guess, doubt: .infinity) * Double(count * configurations.count)
  }

  /// The mean of a configuration's own starts so far. Before its first start with filled caches, the time of a cold
  /// start without the drivers' compilation, which dominates it.
  private func expectedStart(_ record: BenchmarkRecord.Configuration, isCold: Bool) -> EstimatedSeconds {
    let own = (isCold ? record.coldStarts : record.starts).map(\.total)
    guard own.isEmpty else { return EstimatedSeconds(own.reduce(0, +) / Double(own.count)) }
    guard !isCold, let cold = record.coldStarts.min(by: { $0.total < $1.total }) else {
      return guessedStarts(1) * (1 / Double(configurations.count))
    }
    let guess = min(cold.total, cold.launch + cold.load + Self.cachedCompile)
    return EstimatedSeconds(guess, doubt: min(guess, cold.total - guess))
  }

  /// Returns the expected seconds of the warm rounds, when inferences may take as little as half of `latencies`.
  private func roughWarmSeconds(_ latencies: [Double]) -> EstimatedSeconds {
    let seconds = warmSeconds(latencies)
    return EstimatedSeconds(seconds, doubt: seconds - warmSeconds(latencies.map { $0 / 2 })) * furtherRounds
  }

  /// Returns the seconds of the planned warm rounds, given the seconds of one inference of each configuration.
  func warmSeconds(_ latencies: [Double]) -> Double {
    let rounds = min(workload.rounds, workload.iterations)
    let queries = (workload.iterations + rounds - 1) / rounds
    return latencies.reduce(0) { sum, latency in
      let turn = max(Double(queries) * latency, workload.warmSeconds / Double(rounds))
      return sum + Double(rounds) * (turn + (latencies.count > 1 ? latency : 0))
    }
  }
}

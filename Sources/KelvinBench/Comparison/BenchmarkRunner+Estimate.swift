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
  func expectPhases(_ contestants: [Contestant] = []) {
    let count = Double(configurations.count)
    if contestants.isEmpty {
      let tried = configurations.count { candidate in
        candidate.plan == nil && options.triesPlans && candidate.request.goal == .latency
          && ((try? subject.context.planner.devices(for: candidate.request).units.count) ?? 1) > 1
      }
      live.expect(.preparation, Double(tried) * Self.trial)
    }
    let start = subject.starter == nil ? Self.guessedStart.within : Self.guessedStart.process
    live.expect(.coldStarts, Double(workload.coldStarts) * count * start)
    live.expect(.starts, Double(workload.starts) * count * start * furtherRounds)
    let predicted =
      contestants.isEmpty ? configurations.map { _ in 0 } : contestants.map(\.explanation.solution.predicted)
    live.expect(.warm, warmSeconds(predicted) * furtherRounds)
    if workload.kind != .oneShot { live.expect(.sustained, workload.duration * count) }
    if options.checksAgreement, let reference = subject.context.inventory.reference {
      let seconds = referenceSeconds(reference) * Double(subject.inputs.count)
      if seconds <= options.referenceBudget { live.expect(.agreement, seconds) }
    }
  }

  /// Starts with something cached are taken to last as long as the cold ones did, but not for a driver that compiles
  /// only then: no longer than a start usually does, where it is not known. A start's
  /// first inference says more of warm ones than a plan that rests on estimates, except that with nothing cached it may
  /// wait for a driver that compiles.
  func expectStarts(_ contestants: [Contestant]) {
    let cold = contestants.flatMap { $0.record.coldStarts.map(\.total) }
    guard !cold.isEmpty else { return }
    let mean = cold.reduce(0, +) / Double(cold.count)
    let able = Double(contestants.count(where: \.isAble))
    let firsts = contestants.filter(\.isAble).map { contestant in
      contestant.record.starts.map(\.first).min()
        ?? (contestant.record.coldStarts.map(\.first) + [contestant.explanation.solution.predicted]).min() ?? 0
    }
    live.expect(.warm, warmSeconds(firsts) * furtherRounds)
    live.expect(.coldStarts, mean * Double(workload.coldStarts) * able)
    let guess = subject.starter == nil ? Self.guessedStart.within : Self.guessedStart.process
    let cached = contestants.filter(\.isAble).reduce(0) { sum, contestant in
      let record = contestant.record
      return sum + (record.starts.map(\.total).min() ?? min(guess, record.coldStarts.map(\.total).min() ?? guess))
    }
    live.expect(.starts, cached * Double(workload.starts) * furtherRounds)
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

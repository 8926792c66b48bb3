import KelvinBasics
import KelvinDevices
import KelvinGraph
package import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinRuntime
import KelvinStreams
package import KelvinThermal

/// Compares configurations of one model under one workload. The configurations take turns, so that other load of the
/// machine affects all of them.
///
/// A configuration whose device fails is reported as failed, and the others continue. When the user cancels, the result
/// consists of the measurements made so far.
package final class BenchmarkRunner {
  let subject: BenchmarkSubject
  let workload: Workload
  let options: BenchmarkOptions
  let clock: any MeasurementClock
  let files: SystemFiles
  let machine: MachineDescription
  let envelope: ThermalEnvelope
  let configurations: [BenchmarkConfiguration]
  private let kelvinVersion: String
  var scenario = Scenario.idle
  /// The share of the processors that others used before the measurements, 0…1.
  var busyShare = 0.0
  /// The identifiers of processes that generate background load for this benchmark.
  var companions: [Int32] = []
  var journal: BenchmarkJournal
  var live: LiveProgress
  /// The power of the machine at rest, measured at its first use, beside the background load. It takes at most a fifth
  /// of the sustained load's time, and 2 to 10 s.
  private(set) lazy var idlePower = IdlePower(
    EnergyCounters(files: files), clock: clock,
    atMost: min(max(0.2 * workload.duration * Double(configurations.count), 2), 10))

  /// - Parameters:
  ///   - envelope: the envelope of the machine's class, for the thermal model when no sensor is readable; nil to assume
  ///     one.
  ///   - files: the roots of `/proc` and `/sys`.
  /// - Throws: `BenchmarkError` when there is nothing to compare or the workload is invalid.
  package init(
    _ subject: BenchmarkSubject, _ workload: Workload, _ configurations: [BenchmarkConfiguration],
    options: BenchmarkOptions = .init(), kelvinVersion: String, envelope: ThermalEnvelope? = nil,
    clock: any MeasurementClock = SystemClock(), files: SystemFiles = SystemFiles()
  ) throws(BenchmarkError) {
    try workload.validate(document: "'\(workload.name)'")
    guard !configurations.isEmpty else { throw .invalidRequest("no configuration to measure; name one with --units") }
    guard !subject.inputs.isEmpty else { throw .invalidRequest("no input to measure with") }
    if let heat = options.simulatedHeat {
      guard workload.kind == .stream else {
        throw .invalidRequest("heat is simulated for a stream, not for \(workload.name)")
      }
      do { _ = try SimulatedHeat(envelope: heat.envelope, speed: heat.speed) } catch {
        throw .invalidRequest(error.description)
      }
    }
    self.subject = subject
    self.workload = workload
    self.configurations = configurations
    self.options = options
    self.kelvinVersion = kelvinVersion
    self.clock = clock
    self.files = files
    machine = MachineDescription(files)
    self.envelope = envelope ?? .assumed(for: machine)
    journal = BenchmarkJournal(
      Self.beginning(subject, workload, machine: machine, kelvinVersion, options))
    live = LiveProgress(clock: clock)
  }

  /// - Throws: `RuntimeError`, `PlanningError` or `BenchmarkError` when no configuration can be measured.
  ///   `RuntimeError.cancelled` when the user cancels before anything was measured.
  package func run(_ observe: @escaping MeasurementObserver = { _ in }) throws -> BenchmarkResult {
    journal = BenchmarkJournal(
      Self.beginning(subject, workload, machine: machine, kelvinVersion, options),
      keep: options.keep)
    live = LiveProgress(clock: clock, observe: observe)
    scenario = try Scenario(workload, subject.context.inventory)
    lookAround()
    expectPhases()
    let load =
      try options.backgroundLoad?(workload.otherLoad)
      ?? SyntheticLoad(workload.otherLoad, subject.context.inventory, processors: machine.workingCores)
    if !workload.otherLoad.isEmpty { try load.start() }
    companions = load.processes
    defer { load.stop() }
    var candidates: [BenchmarkCandidate] = []
    for configuration in configurations { candidates.append(try prepare(configuration, after: candidates)) }
    do {
      expectPhases(candidates)
      try runStarts(candidates)
      switch workload.kind {
      case .oneShot: try runWarm(candidates)
      case .stream, .throughput:
        try runWarm(candidates)
        try runSustained(candidates, beside: load)
      case .tokens: try runTokens(candidates, beside: load)
      }
      load.stop()
      journal.add(.agreementRemark(try checkAgreement(candidates)))
    } catch RuntimeError.cancelled where options.cancellation?.isCancelled == true {
      journal.add(.interruption("interrupted during the \(live.phase)"))
    }
    load.stop()
    if let account = load.account { journal.add(.note(account.description)) }
    if candidates.allSatisfy({ !$0.isAble }), let error = firstError { throw error }
    guard
      candidates.map(\.record).contains(where: { !$0.starts.isEmpty || !$0.coldStarts.isEmpty || $0.hasRun })
    else { throw RuntimeError.cancelled }
    for candidate in candidates { candidate.keepTrace(subject.inputs[0]) }
    live.finish()
    if let fault = journal.fault { journal.add(.note("the journal is not complete: \(fault)")) }
    return BenchmarkResult(journal.record)
  }

  private func prepare(_ configuration: BenchmarkConfiguration, after others: [BenchmarkCandidate]) throws
    -> BenchmarkCandidate
  {
    try options.cancellation?.check()
    let context = subject.context
    var request = configuration.request
    if workload.kind == .throughput, configuration.plan == nil,
      policies.contains(where: { $0.goal == .throughput })
    {
      request.goal = .throughput
    }
    let share = { [count = configurations.count] (part: Double) in (Double(others.count) + part) / Double(count) }
    live.advance(share(0), configuration.label, what: "planning")
    var configuration = configuration
    configuration.request = request
    let threads = scenario.threads(of: request.threads)
    let choice = try PlanChoice(
      configuration, context, scenario, inputs: options.triesPlans ? subject.inputs[0] : nil, clock: clock,
      companions: companions,
      observe: { [live] in live.advance(share($0.fraction), configuration.label, what: $0.phase) })
    var explanation = choice.explanation
    var heatReason: String?
    if workload.kind == .stream, configuration.plan == nil, request.goal == .latency,
      try context.planner.devices(for: request).units.count > 1
    {
      var reduced = request
      reduced.threads = threads
      let measured = choice.trial.map { $0.record.entries[$0.record.chosen].seconds }
      if let lasting = try planForHeat(explanation, reduced, threads: threads, measured: measured) {
        (explanation, heatReason) = (lasting.explanation, lasting.reason)
        (configuration.request.goal, configuration.request.power) = (lasting.request.goal, lasting.request.power)
      }
    }
    let candidate = BenchmarkCandidate(
      configuration, explanation, trial: choice.trial, context, threads: threads,
      isDeterministic: options.isDeterministic, cancellation: options.cancellation, journal: journal,
      index: others.count)
    journal.add(.configuration(try description(of: candidate, after: others)))
    if let heatReason { journal.add(.note("\(configuration.label): \(heatReason)")) }
    candidate.rest = scenario.rest(busy: candidate.busyShares, threads: threads, cores: request.threads)
    return candidate
  }

  private var firstError: (any Error)?

  /// Runs `body` for a configuration that has not failed. An error of `body` ends this configuration, not the
  /// benchmark.
  ///
  /// - Throws: `RuntimeError.cancelled` when the user cancels.
  func attempt(_ candidate: BenchmarkCandidate, _ body: () throws -> Void) throws {
    guard candidate.isAble else { return }
    try options.cancellation?.check()
    do { try body() } catch {
      if let cancellation = options.cancellation, cancellation.isCancelled { throw RuntimeError.cancelled }
      firstError = firstError ?? error
      journal.add(.failure(configuration: candidate.index, reason: "\(live.phase): \(error)"))
      journal.add(.note("\(candidate.configuration.label) failed during the \(live.phase): \(error)"))
    }
  }

  /// Runs rounds, in each of which every configuration has its turn. Rounds end when enough of them were undisturbed or
  /// the budget of extra rounds is used. If they decide nothing, they are doubled.
  ///
  /// - Parameters:
  ///   - undisturbed: the seconds of the planned rounds on a quiet machine; a busy machine gets twice as long.
  ///   - seconds: the compared values of a configuration; nil when the number of rounds is fixed.
  func runRounds(
    _ phase: BenchmarkSample.Phase, planned: Int, _ candidates: [BenchmarkCandidate], undisturbed: Double,
    comparing seconds: ((BenchmarkRecord.Configuration) -> [Double])? = nil,
    _ turn: (_ candidate: BenchmarkCandidate, _ round: Int) throws -> Void
  ) throws {
    guard planned > 0 else { return journal.add(.completed(phase: phase)) }
    let began = clock.now()
    var log = RoundLog(
      planned: planned, files: files, at: began, deadline: began + 2 * undisturbed, companions: companions)
    var round = 0
    func isDecided() -> Bool {
      let rivals = candidates.filter(\.isAble).map(\.record)
      guard let seconds, rivals.count > 1 else { return true }
      return Finding(
        rivals.map(seconds), plans: rivals.map(\.setup.samePlanAs), isDisturbed: log.isDisturbed,
        level: workload.level(of: phase)
      )?.isDecided ?? true
    }
    let phaseEnd = options.phaseLimit.map { began + $0 * Double(max(candidates.count, 1)) } ?? .infinity
    while !isOverdue(after: round, phaseEnd), log.wantsAnother || (!log.isCutShort && !isDecided() && log.extend()) {
      // An undecided phase may end as planned or be doubled; a factor of 1.4 is within a third of both.
      if log.planned > planned {
        live.extend(to: 2)
      } else if round >= max(PairedComparison.fewestPairs, planned / 4), round.isMultiple(of: 4) {
        live.extend(to: log.mayExtend && !isDecided() ? 1.4 : 1)
      }
      let order = PairedComparison.turns(candidates.filter(\.isAble), round: round)
      guard !order.isEmpty else { return }
      for candidate in order {
        try attempt(candidate) { try turn(candidate, round) }
        if let contention = log.endTurn(at: clock.now()) {
          journal.add(.contention(configuration: candidate.index, contention: contention))
        }
      }
      let from = log.endRound()
      journal.add(
        .rounds(phase: phase, planned: log.planned, from: from, disturbed: Array(log.isDisturbed[from...])))
      round += 1
    }
    if log.isCutShort {
      journal.add(
        .note(
          "\(live.phase): \(round) of \(planned) rounds fitted into twice the time that they take on a quiet machine;"
            + " intervals are wider"))
    }
    if isOverdue(after: round, phaseEnd), clock.now() >= phaseEnd, round < planned {
      journal.add(
        .note(
          "\(live.phase): \(round) of \(planned) rounds, because they took \(HumanReadable.seconds(clock.now() - began));"
            + " --rounds \(planned) measures all"))
    }
    journal.add(.completed(phase: phase))
  }

  /// Whether the time has passed and the comparison has its minimum of rounds.
  private func isOverdue(after rounds: Int, _ phaseEnd: Double) -> Bool {
    rounds >= PairedComparison.fewestPairs && clock.now() >= min(options.endsBy ?? .infinity, phaseEnd)
  }

  /// Measures warm inferences as MLPerf's SingleStream issues them: each begins when the previous one ends. Each round
  /// measures a few inferences of each configuration, so that rounds can be paired.
  private func runWarm(_ candidates: [BenchmarkCandidate]) throws {
    live.begin("warm inferences", .warm)
    var quickest: [Double] = []
    for candidate in candidates {
      try attempt(candidate) {
        let times = try (0..<workload.warmUps).map { _ in try clock.time { try candidate.infer() } }
        quickest.append(times.min() ?? candidate.explanation.solution.predicted)
      }
    }
    let undisturbed = warmSeconds(quickest.map(undisturbed))
    live.expect(.warm, EstimatedSeconds(warmSeconds(quickest) * furtherRounds))
    let rounds = min(workload.rounds, workload.iterations)
    let queries = (workload.iterations + rounds - 1) / rounds
    let minimum = workload.warmSeconds / Double(rounds)
    try runRounds(
      .warm, planned: rounds, candidates, undisturbed: undisturbed, comparing: \.warmMedians
    ) { candidate, round in
      // The first inference after a change of configuration finds cold caches and parked workers, so it is not timed.
      if candidates.count > 1 { try candidate.infer() }
      var burst: [Double] = []
      let begin = clock.now()
      defer { if !burst.isEmpty { journal.add(.warm(configuration: candidate.index, seconds: burst)) } }
      while burst.count < queries || clock.now() - begin < minimum {
        candidate.writeInputs(subject.inputs[0])
        let seconds = try clock.time { try candidate.infer() }
        burst.append(seconds)
        candidate.idle(after: seconds, clock)
        // Ends the round even if the clock stands still.
        if burst.count >= queries + 1_000_000 { break }
      }
      live.note(candidate.configuration.label, latencies: candidate.record.warm.joined().suffix(512) + burst)
      live.advance(
        Double(round + 1) / Double(rounds), candidate.configuration.label, isRepeating: round >= rounds)
    }
    for candidate in candidates {
      guard let weights = candidate.weights else { continue }
      journal.add(.weights(configuration: candidate.index, weights: weights))
    }
  }
}

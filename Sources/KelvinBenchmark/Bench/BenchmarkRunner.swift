import KelvinDevices
import KelvinGraph
import KelvinPlanning
package import KelvinProfiling
import KelvinRuntime

/// Compares configurations of one model under one workload, in one process and in turns, so that whatever else the
/// machine does falls on all of them.
package final class BenchmarkRunner {
  let subject: BenchmarkSubject
  let workload: Workload
  let options: BenchmarkOptions
  let clock: any BenchmarkClock
  let files: SystemFiles
  let machine: MachineDescription
  let envelope: ThermalEnvelope
  private let configurations: [BenchmarkConfiguration]
  private let kelvinVersion: String
  var observe: BenchmarkObserver = { _ in }
  var notes: [String] = []
  /// For each warm round and each slice, whether somebody disturbed it.
  var disturbedRounds: [Bool] = []
  var disturbedSlices: [Bool] = []

  /// - Parameters:
  ///   - envelope: of the machine's class, for the thermal model where no sensor answers; nil to assume one.
  ///   - files: where `/proc` and `/sys` are.
  /// - Throws: `BenchmarkError` where there is nothing to compare or the workload makes no sense.
  package init(
    _ subject: BenchmarkSubject, _ workload: Workload, _ configurations: [BenchmarkConfiguration],
    options: BenchmarkOptions = .init(), kelvinVersion: String, envelope: ThermalEnvelope? = nil,
    clock: any BenchmarkClock = SystemClock(), files: SystemFiles = SystemFiles()
  ) throws(BenchmarkError) {
    try workload.validate(document: "'\(workload.name)'")
    guard !configurations.isEmpty else { throw .invalidRequest("no configuration to measure; name one with --units") }
    guard !subject.inputs.isEmpty else { throw .invalidRequest("no input to measure with") }
    self.subject = subject
    self.workload = workload
    self.configurations = configurations
    self.options = options
    self.kelvinVersion = kelvinVersion
    self.clock = clock
    self.files = files
    machine = MachineDescription(files)
    self.envelope = envelope ?? .assumed(for: machine)
  }

  /// - Throws: `RuntimeError`, `PlanningError` or `BenchmarkError`.
  package func run(_ observe: @escaping BenchmarkObserver = { _ in }) throws -> BenchmarkResult {
    self.observe = observe
    notes = []
    let contestants = try configurations.map(prepare)
    try start(contestants)
    try runWarm(contestants)
    if workload.kind != .oneShot { try runSustained(contestants) }
    let agreementRemark = try checkAgreement(contestants)
    observe(.init(phase: "done", fraction: 1))
    return try result(contestants, agreementRemark: agreementRemark, kelvinVersion: kelvinVersion)
  }

  private func prepare(_ configuration: BenchmarkConfiguration) throws -> Contestant {
    let context = subject.context
    let request = configuration.request
    observe(.init(phase: "\(configuration.label): planning", fraction: 0))
    if let plan = configuration.plan {
      let explanation = try context.explain(adopting: plan, request)
      return Contestant(configuration, explanation, trial: nil, context, isDeterministic: options.isDeterministic)
    }
    var explanation = try context.explain(request)
    var trial: PlanTrial?
    if options.triesPlans, try context.planner.devices(for: request).units.count > 1 {
      trial = try PlanTrial.run(
        context, explanation, request, inputs: subject.inputs[0], clock: clock, observe: observe)
      if let trial { explanation = explanation.adopting(trial.solution, reason: "measured: \(trial.reason)") }
    }
    return Contestant(configuration, explanation, trial: trial, context, isDeterministic: options.isDeterministic)
  }

  /// Complete starts, in turns.
  private func start(_ contestants: [Contestant]) throws {
    for contestant in contestants {
      observe(.init(phase: "\(contestant.configuration.label): compiling with nothing cached", fraction: 0.05))
      contestant.compileUncached = try clock.time { try contestant.compileAfresh() }
    }
    for round in 0..<workload.starts {
      for contestant in turns(contestants, round) {
        let phase = "\(contestant.configuration.label): start \(round + 1) of \(workload.starts)"
        observe(.init(phase: phase, fraction: 0.05 + 0.15 * Double(round) / Double(workload.starts)))
        var load = subject.loadSeconds
        if let reload = subject.reload {
          PageCache.forget(subject.files)
          load = try clock.time { try reload() }
        }
        let compile = try clock.time { try contestant.compile() }
        let first = try clock.time { _ = try contestant.answer(subject.inputs[0]) }
        contestant.starts.append(.init(load: load, compile: compile, first: first))
      }
    }
  }

  /// Warm inferences: a few of each configuration in each round, so that rounds can be paired.
  private func runWarm(_ contestants: [Contestant]) throws {
    for contestant in contestants {
      for _ in 0..<workload.warmUps { try contestant.infer() }
    }
    let burst = (workload.iterations + 11) / 12
    let rounds = (workload.iterations + burst - 1) / burst
    var watch = ContentionWatch(files: files, at: clock.now())
    disturbedRounds = []
    for round in 0..<rounds {
      for contestant in turns(contestants, round) {
        let share = Double(round) / Double(rounds)
        let last = contestant.warm.last.flatMap { try? LatencyStatistics($0).median }
        observe(
          .init(
            phase: "\(contestant.configuration.label): warm, round \(round + 1) of \(rounds)",
            fraction: 0.2 + 0.2 * share,
            detail: last.map { "p50 \(HumanReadable.seconds($0))" } ?? ""))
        // The run after a change of configuration finds cold caches and parked workers.
        if contestants.count > 1 { try contestant.infer() }
        var seconds: [Double] = []
        for _ in 0..<burst { seconds.append(try clock.time { try contestant.infer() }) }
        contestant.warm.append(seconds)
      }
      let contention = watch.interval(at: clock.now())
      disturbedRounds.append(contention.map { !$0.isFlat } ?? false)
      for contestant in contestants where contention != nil {
        contestant.windows += 1
        if disturbedRounds[round] { contestant.disturbedWindows += 1 }
      }
    }
  }

  /// Two take turns: A B, B A, A B, …; more come in another random order each round, so that nobody always runs
  /// after the same neighbour.
  func turns(_ contestants: [Contestant], _ round: Int) -> [Contestant] {
    guard contestants.count > 2 else { return round.isMultiple(of: 2) ? contestants : contestants.reversed() }
    var random = SplitMix64(seed: UInt64(round))
    return contestants.shuffled(using: &random)
  }

  /// - Returns: why there is no agreement; empty where there is.
  private func checkAgreement(_ contestants: [Contestant]) throws -> String {
    guard options.checksAgreement else { return "not asked for" }
    guard let reference = subject.context.inventory.reference else { return "this build has no reference device" }
    let graph = subject.context.graph
    let id = reference.info.id
    let coefficients = reference.info.planningKind.guess
    let estimate = graph.nodes.reduce(0.0) { sum, node in
      let work = graph.work(of: node)
      return sum + coefficients.estimate(operator: node.op.name, operations: work.operations, bytes: work.bytes)
    }
    let affordable = min(subject.inputs.count, Int(min(1e6, options.referenceBudget / max(estimate, 1e-9))))
    guard affordable > 0 else {
      return "the reference device would take about \(HumanReadable.seconds(estimate)) for one input"
    }
    observe(.init(phase: "comparing with the reference device", fraction: 0.97))
    var request = configurations[0].request
    request.units = .devices([id])
    request.pins = [:]
    request.exclusions = []
    let solution = try subject.context.planner.problem(graph, request).solve()
    let oracle = try CompiledModel(
      graph, placement: solution.placement, transfers: solution.transfers, inventory: subject.context.inventory,
      precision: request.precision, threads: request.threads, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) }
    ).makeSession()
    let inputs = subject.inputs.prefix(affordable)
    let expected = try inputs.map { try oracle.run($0) }
    for contestant in contestants {
      let outputs = try inputs.map { try contestant.answer($0) }
      contestant.agreement = Agreement.compare(outputs, to: expected, classes: subject.classes)
    }
    if affordable < subject.inputs.count {
      notes.append("agreement is from \(affordable) of \(subject.inputs.count) inputs: the reference device is slow")
    }
    return ""
  }
}

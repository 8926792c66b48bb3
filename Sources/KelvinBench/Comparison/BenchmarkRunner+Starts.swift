import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

extension BenchmarkRunner {
  /// Measures complete starts: with empty caches, then with filled caches. Each start is made in its own process if the
  /// subject has a starter.
  func runStarts(_ contestants: [BenchmarkCandidate]) throws {
    live.begin("cold starts", .coldStarts)
    try runRounds(
      .coldStart, planned: workload.coldStarts, contestants, undisturbed: undisturbed(live.expected(.coldStarts))
    ) { contestant, round in
      live.advance(
        Double(round) / Double(workload.coldStarts), contestant.configuration.label,
        left: startsLeft(contestants, isCold: true))
      journal.add(
        .start(
          configuration: contestant.index, isCold: true, seconds: try start(contestant, isCold: true)))
      expectStarts(contestants)
    }
    expectStarts(contestants)
    live.begin("starts", .starts)
    for contestant in contestants {
      try attempt(contestant) {
        // Without cold starts nothing has filled the caches yet.
        if workload.coldStarts == 0, workload.starts > 0 { _ = try start(contestant, isCold: false) }
        live.advance(0, contestant.configuration.label)
        try contestant.compile()
        _ = try contestant.answer(subject.inputs[0])
      }
    }
    let totals = { (record: BenchmarkRecord.Configuration) in record.starts.map(\.total) }
    try runRounds(
      .start, planned: workload.starts, contestants,
      undisturbed: undisturbed(max(live.expected(.starts), guessedStarts(workload.starts).seconds)), comparing: totals
    ) { contestant, round in
      live.advance(
        Double(round) / Double(workload.starts), contestant.configuration.label,
        left: startsLeft(contestants, isCold: false) * (round < workload.starts ? furtherRounds : 1))
      journal.add(
        .start(
          configuration: contestant.index, isCold: false, seconds: try start(contestant, isCold: false)))
      expectStarts(contestants)
    }
  }

  private func start(_ contestant: BenchmarkCandidate, isCold: Bool) throws -> ConfigurationResult.Start {
    if isCold { PageCache.forget(subject.files) }
    if let starter = subject.starter {
      let plan = try subject.context.plan(contestant.explanation, contestant.configuration.request)
      return try starter.start(contestant.configuration, plan: plan, threads: contestant.threads, isCold: isCold)
    }
    var load = subject.loadSeconds
    if let reload = subject.reload { load = try clock.time { try reload() } }
    // The session that was just compiled answers; a cold session is released afterwards.
    var session: Session?
    let compile = try clock.time {
      session = isCold ? try contestant.compileAfresh() : try contestant.compile()
    }
    let first = try clock.time { _ = try session?.run(subject.inputs[0], options.cancellation) }
    return .init(load: load, compile: compile, first: first)
  }
}

import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime

extension BenchmarkRunner {
  /// Measures complete starts: with empty caches, then with filled caches. Each start is made in its own process if the
  /// subject has a starter.
  func runStarts(_ candidates: [BenchmarkCandidate]) throws {
    live.begin("cold starts", .coldStarts)
    try runRounds(
      .coldStart, planned: workload.coldStarts, candidates, undisturbed: undisturbed(live.expected(.coldStarts))
    ) { candidate, round in
      live.advance(
        Double(round) / Double(workload.coldStarts), candidate.configuration.label,
        left: startsLeft(candidates, isCold: true))
      journal.add(
        .start(
          configuration: candidate.index, isCold: true, seconds: try start(candidate, isCold: true)))
      expectStarts(candidates)
    }
    expectStarts(candidates)
    live.begin("starts", .starts)
    for candidate in candidates {
      try attempt(candidate) {
        // Without cold starts nothing has filled the caches yet.
        if workload.coldStarts == 0, workload.starts > 0 { _ = try start(candidate, isCold: false) }
        live.advance(0, candidate.configuration.label)
        try candidate.compile()
        _ = try candidate.answer(subject.inputs[0])
      }
    }
    let totals = { (record: BenchmarkRecord.Configuration) in record.starts.map(\.total) }
    try runRounds(
      .start, planned: workload.starts, candidates,
      undisturbed: undisturbed(max(live.expected(.starts), guessedStarts(workload.starts).seconds)), comparing: totals
    ) { candidate, round in
      live.advance(
        Double(round) / Double(workload.starts), candidate.configuration.label,
        left: startsLeft(candidates, isCold: false) * (round < workload.starts ? furtherRounds : 1))
      journal.add(
        .start(
          configuration: candidate.index, isCold: false, seconds: try start(candidate, isCold: false)))
      expectStarts(candidates)
    }
  }

  private func start(_ candidate: BenchmarkCandidate, isCold: Bool) throws -> ConfigurationResult.Start {
    if isCold { PageCache.forget(subject.files) }
    if let starter = subject.starter {
      let plan = try subject.context.plan(candidate.explanation, candidate.configuration.request)
      return try starter.start(candidate.configuration, plan: plan, threads: candidate.threads, isCold: isCold)
    }
    var load = subject.loadSeconds
    if let reload = subject.reload { load = try clock.time { try reload() } }
    // The session that was just compiled answers; a cold session is released afterwards.
    var session: Session?
    let compile = try clock.time {
      session = isCold ? try candidate.compileAfresh() : try candidate.compile()
    }
    let first = try clock.time { _ = try session?.run(subject.inputs[0], options.cancellation) }
    return .init(load: load, compile: compile, first: first)
  }
}

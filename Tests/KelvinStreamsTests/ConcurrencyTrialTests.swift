import KelvinBasics
import KelvinStreams
import TestSupport
import Testing

@Suite("Trial of frames at the same time")
struct ConcurrencyTrialTests {
  /// Runs a trial on a machine with so many answers per second for each plan.
  ///
  /// - Returns: the last setting's plan, its action, and the plans in the order of their turns.
  private func run(_ lanes: [Int], rates: [Double], noise: Double = 0, seed: UInt64 = 1) throws -> (
    plan: Int, action: GovernorAction, turns: [Int]
  ) {
    try run(lanes.map { ConcurrentFrames(lanes: $0) }, rates: rates, noise: noise, seed: seed)
  }

  private func run(_ plans: [ConcurrentFrames], rates: [Double], noise: Double = 0, seed: UInt64 = 1) throws -> (
    plan: Int, action: GovernorAction, turns: [Int]
  ) {
    var trial = ConcurrencyTrial(plans, setting: GovernorSetting(queue: 2))
    var random = SeededGenerator(seed: seed)
    var (now, plan, turns, action) = (0.0, 0, [0], GovernorAction?.none)
    for _ in 0..<1000 where action == nil {
      now += (1 + noise * (random.unit() - 0.5)) / rates[plan]
      action = trial.answered(at: now, plan: plan)
      if trial.setting.plan != plan { turns.append(trial.setting.plan) }
      plan = trial.setting.plan
    }
    return (plan, try #require(action), turns)
  }

  @Test("a plan with more frames at the same time is taken if it answers clearly more")
  func faster() throws {
    let faster = try run([1, 2], rates: [55, 70])
    #expect(faster.plan == 1)
    #expect(faster.turns == [0, 1, 0, 1], "first, second, second, first, and then the second")
    #expect(faster.action.what == "2 frames at a time")
    #expect(faster.action.cause == "measured 55.0 /s with one frame at a time, 70.0 /s with 2 frames at a time")
    #expect(faster.action.setting == GovernorSetting(plan: 1, queue: 2))
    for rates in [[70.0, 55], [60, 60], [60, 61]] {
      let slower = try run([1, 2], rates: rates)
      #expect(slower.plan == 0, "\(rates)")
      #expect(slower.action.what == "one frame at a time")
    }
  }

  @Test("more and more frames at the same time are tried until they bring nothing")
  func climb() throws {
    #expect(try run([1, 2, 4, 8], rates: [10, 20, 30, 29]).plan == 2)
    #expect(try run([1, 2, 4, 8], rates: [10, 9, 30, 40]).plan == 0, "the first that brings nothing ends the trial")
    #expect(try run([1, 2, 4, 8], rates: [10, 20, 30, 40]).plan == 3)
  }

  @Test("batches are tried even if more frames at the same time bring nothing, and until a larger one brings nothing")
  func batches() throws {
    let plans =
      [1, 2].map { ConcurrentFrames(lanes: $0) }
      + [2, 4, 8].map { ConcurrentFrames(lanes: 2 * $0, batch: $0) }
    let batched = try run(plans, rates: [10, 9, 20, 30, 29])
    #expect(batched.plan == 3)
    #expect(batched.action.what == "batches of up to 4")
    #expect(batched.turns == [0, 1, 0, 2, 0, 2, 3, 2, 3, 4, 3])
    #expect(try run(plans, rates: [10, 20, 15, 40, 40]).plan == 1, "a small batch that brings nothing ends the trial")
    #expect(try run(plans, rates: [10, 20, 25, 24, 40]).plan == 2)
  }

  @Test("answers that come in batches are counted in whole batches")
  func bursts() throws {
    let plans = [ConcurrentFrames(lanes: 1), ConcurrentFrames(lanes: 16, batch: 8)]
    for (rate, expected) in [(10.5, 1), (10.1, 0)] {
      var trial = ConcurrencyTrial(plans, setting: GovernorSetting())
      var (now, action) = (0.0, GovernorAction?.none)
      while action == nil {
        let plan = trial.setting.plan
        now += plan == 0 ? 0.1 : 8 / rate
        for _ in 0..<plans[plan].batch where action == nil { action = trial.answered(at: now, plan: plan) }
      }
      #expect(trial.setting.plan == expected, "\(rate)")
    }
  }

  @Test("the noise of single answers does not decide")
  func noise() throws {
    for seed in UInt64(1)...200 {
      #expect(try run([1, 2], rates: [60, 60], noise: 0.1, seed: seed).plan == 0, "seed \(seed)")
      #expect(try run([1, 2], rates: [60, 75], noise: 0.1, seed: seed).plan == 1, "seed \(seed)")
    }
  }

  @Test("answers of the plan before do not count, and after the outcome nothing is tried")
  func stale() throws {
    var trial = ConcurrencyTrial([1, 2].map { ConcurrentFrames(lanes: $0) }, setting: GovernorSetting())
    for answer in 0...ConcurrencyTrial.counted + 1 { #expect(trial.answered(at: Double(answer), plan: 0) == nil) }
    #expect(trial.setting.plan == 1)
    for _ in 0..<100 { #expect(trial.answered(at: 1000, plan: 0) == nil) }
    #expect(trial.setting.plan == 1)

    var single = ConcurrencyTrial([ConcurrentFrames(lanes: 1)], setting: GovernorSetting())
    for answer in 0..<100 { #expect(single.answered(at: Double(answer), plan: 0) == nil) }
  }
}

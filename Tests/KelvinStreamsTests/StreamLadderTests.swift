import KelvinBasics
import KelvinStreams
import KelvinThermal
import Testing

@Suite("Stream ladder")
struct StreamLadderTests {
  @Test("a deadline that no plan meets is told with the fastest plan's time")
  func unmetDeadline() throws {
    let plans = [
      StreamPlan(label: "a", secondsPerFrame: 0.02, joulesPerFrame: 0.2),
      StreamPlan(label: "b", secondsPerFrame: 0.0128, joulesPerFrame: 0.1),
    ]
    let ladder = try StreamLadder(choosingAmong: plans, framesPerSecond: 30, deadline: 0.01)
    #expect(ladder.remark(deadline: 0.01) == "no plan answers within 10.0 ms; the fastest takes 12.8 ms")
    #expect(ladder.remark(deadline: 0.015) == nil && ladder.remark(deadline: nil) == nil)
  }

  private func plan(_ label: String, _ milliseconds: Double, _ millijoules: Double, _ remark: String = "") -> StreamPlan
  {
    StreamPlan(label: label, secondsPerFrame: milliseconds / 1e3, joulesPerFrame: millijoules / 1e3, remark: remark)
  }

  @Test("steps are sorted by energy and state their savings and costs")
  func golden() throws {
    let plans = [
      plan("as planned", 10, 100), plan("1 CPU thread", 18, 60), plan("hot", 5, 140), plan("the same", 11, 98),
      plan("precision low", 8, 80, "outputs differ by up to 0.01"), plan("crawl", 50, 30),
    ]
    let ladder = try StreamLadder(choosingAmong: plans, framesPerSecond: 30, queue: 2)
    #expect(
      ladder.descriptions == [
        "as planned, 100 % of the frames, 2 may wait",
        "precision low, 100 % of the frames, 2 may wait: saves 20 % of the energy; a frame takes 8.00 ms instead of 10.0 ms; outputs differ by up to 0.01",
        "1 CPU thread, 100 % of the frames, 2 may wait: saves 40 % of the energy; a frame takes 18.0 ms instead of 10.0 ms",
        "1 CPU thread, 100 % of the frames: saves 40 % of the energy; a frame takes 18.0 ms instead of 10.0 ms",
        "crawl, 50 % of the frames: saves 85 % of the energy; a frame takes 50.0 ms instead of 10.0 ms",
        "crawl, 25 % of the frames: saves 93 % of the energy; a frame takes 50.0 ms instead of 10.0 ms",
        "any of these plans, 5 % of the frames or more",
      ])
    let unpaced = try StreamLadder(choosingAmong: [plans[0]], framesPerSecond: nil)
    #expect(unpaced.costs == nil)
    #expect(unpaced.descriptions.last == "as planned, 25 % of the frames: saves 75 % of the energy")
  }

  @Test("a plan that misses the deadline is left out, unless the preferred one misses it too")
  func deadline() throws {
    let plans = [plan("as planned", 10, 100), plan("slow", 30, 40), plan("slower", 32, 20)]
    func labels(_ deadline: Double?) throws -> [String] {
      try StreamLadder(choosingAmong: plans, framesPerSecond: 30, deadline: deadline).labels
    }
    #expect(try labels(nil) == ["as planned", "slow", "slower"])
    #expect(try labels(0.031) == ["as planned", "slow"])
    #expect(try labels(0.005) == ["as planned"])
  }

  @Test("the cost of a plan that does not keep up is that of the frames it answers")
  func costs() throws {
    let cost = plan("slow", 50, 100).cost(framesPerSecond: 40)
    #expect(abs(cost.answersPerSecond - 20) < 1e-9 && abs(cost.watts - 2) < 1e-9 && abs(cost.fullRate - 0.5) < 1e-9)
    let back = plan("slow", 50, 100).cost(framesPerSecond: nil)
    #expect(back.answersPerSecond == 20 && abs(back.watts - 2) < 1e-9 && back.fullRate == 1)
  }

  @Test("a single device without alternatives lowers the rate")
  func rates() throws {
    let alone = try StreamLadder(choosingAmong: [plan("as planned", 10, 100)], framesPerSecond: 30)
    #expect(alone.rungs.map(\.setting.rate) == [1, 0.75, 0.5, 0.25])
    // 40 ms at 50 frames a second answers half of them anyway.
    let slow = try StreamLadder(choosingAmong: [plan("as planned", 40, 100)], framesPerSecond: 50)
    #expect(slow.rungs.map(\.setting.rate) == [1, 0.25])
  }

  @Test("each step uses clearly less energy and keeps up")
  func properties() throws {
    for seed in UInt64(1)...300 {
      var random = SeededGenerator(seed: seed)
      let plans = (0..<1 + random.index(below: 6)).map {
        plan("plan \($0)", 1 + 60 * random.unit(), 1 + 200 * random.unit())
      }
      let rate = 5 + 60 * random.unit()
      let ladder = try StreamLadder(choosingAmong: plans, framesPerSecond: rate)
      #expect(ladder.rungs[0].setting == .init() && ladder.labels[0] == "plan 0", "seed \(seed)")
      for (above, below) in zip(ladder.rungs, ladder.rungs.dropFirst()) {
        #expect(below.setting.rate <= above.setting.rate, "seed \(seed)")
        let (hot, lean) = (try #require(above.watts), try #require(below.watts))
        #expect(lean < 0.95 * hot, "seed \(seed)")
        let used = try #require(plans.first { $0.label == ladder.labels[below.setting.plan] })
        let before = try #require(plans.first { $0.label == ladder.labels[above.setting.plan] })
        #expect(used == before || used.joulesPerFrame < 0.95 * before.joulesPerFrame, "seed \(seed)")
        #expect(
          used.secondsPerFrame * rate * below.setting.rate <= 1 || used.secondsPerFrame <= plans[0].secondsPerFrame,
          "seed \(seed)")
      }
    }
  }

  @Test("the sustained plan is chosen if it answers more frames")
  func sustained() throws {
    let phone = try ThermalEnvelope(named: "phone")
    // 2.5 W to spare: 100 mJ a frame can be held at 25 frames a second, 50 mJ at all 30.
    let choice = SustainedChoice(
      quick: plan("as planned", 10, 100), lasting: plan("made to last", 20, 50), framesPerSecond: 30,
      secondsToLimit: 90, on: phone)
    #expect(choice.takesLasting)
    #expect(
      choice.reason
        == "the envelope \"phone\" is at its limit after 90.0 s with the plan of least latency; tried here, it can be held at 25.0 /s at 10.0 ms a frame, the plan made to last at 30.0 /s at 20.0 ms a frame: the plan made to last is taken"
    )
    let slow = SustainedChoice(
      quick: plan("as planned", 10, 100), lasting: plan("made to last", 50, 50), framesPerSecond: 30,
      secondsToLimit: 90, on: phone)
    #expect(!slow.takesLasting)
  }
}

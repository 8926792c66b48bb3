import KelvinPlanning
import Testing

@Suite struct GoalTests {
  /// Two nodes in a row, a copy of 1 s each way, and energies: `cpu` 10 J a node, `gpu` 40 J.
  private func problem(_ goal: String, _ more: String = "") throws -> PlanningProblem {
    try PlanningProblem(
      text: """
        {"devices": ["cpu", "gpu"], "host": "cpu", "goal": "\(goal)",
         "transfers": [{"from": "cpu", "to": "gpu", "latency": 1}, {"from": "gpu", "to": "cpu", "latency": 1}],
         "inputs": [{"value": "in", "bytes": 8}], "outputs": ["out"],
         "nodes": [
           {"id": "a", "inputs": ["in"], "outputs": [{"value": "x", "bytes": 8}], "seconds": {"cpu": 10, "gpu": 4},
            "joules": {"cpu": 10, "gpu": 40}},
           {"id": "b", "inputs": ["x"], "outputs": [{"value": "out", "bytes": 8}], "seconds": {"cpu": 6, "gpu": 5},
            "joules": {"cpu": 10, "gpu": 40}}
         ]\(more)}
        """)
  }

  private func isClose(_ value: Double?, _ expected: Double) -> Bool { abs((value ?? .nan) - expected) < 1e-9 }

  /// Both on `gpu`: cpu 2, gpu 4 + 5 + 2 = 11. `a` on `gpu`, `b` on `cpu`: cpu 6 + 2 = 8, gpu 4 + 2 = 6. With 2 of 11 frames
  /// for the first, both have 76/11.
  @Test func throughputBalancesTheLoadsOfTwoResources() throws {
    let solution = try problem("throughput").solve()
    #expect(solution.placement == ["a": "gpu", "b": "cpu"])
    #expect(solution.predicted == 12)
    #expect(solution.mixture?.singlePlanSeconds == 8)
    let shares = try #require(solution.mixture).plans
    #expect(shares.map(\.placement) == [["a": "gpu", "b": "cpu"], ["a": "gpu", "b": "gpu"]])
    #expect(isClose(shares[0].share, 9.0 / 11))
    #expect(isClose(solution.objective, 76.0 / 11))
    #expect(solution.bottleneck?.seconds == solution.objective && solution.framesPerSecond == 1 / solution.objective)
    #expect(solution.method == .exact)
    #expect(
      solution.remark?.hasSuffix("limits the rate: 0.145 frames/s; one inference at a time would reach 0.083 frames/s")
        == true)
  }

  /// One piece of silicon: its load is the serial sum, 11 on `gpu` alone with its copies, 12 split, 16 on `cpu`.
  @Test func devicesOfOneResourceDoNotOverlap() throws {
    let solution = try problem("throughput", ", \"resource\": {\"cpu\": \"chip\", \"gpu\": \"chip\"}").solve()
    #expect(solution.placement == ["a": "gpu", "b": "gpu"])
    #expect(solution.bottleneck == Bottleneck(resource: "chip", seconds: 11))
  }

  /// 2 W to spare: 20 J on `cpu` take 10 s, beside its load of 16 s; the split's 50 J take 25 s. With 6 of 23 frames split,
  /// both have 320/23.
  @Test func lowerPowerPlanWinsUnderAPowerLimit() throws {
    let solution = try problem("sustained", ", \"power\": {\"idleWatts\": 1, \"sustainableWatts\": 3}").solve()
    #expect(solution.placement == ["a": "cpu", "b": "cpu"])
    #expect(solution.mixture?.singlePlanSeconds == 16)
    #expect(isClose(solution.objective, 320.0 / 23))
    #expect(isClose(solution.joules, 20 + 180.0 / 23))
    let tight = try problem("sustained", ", \"power\": {\"idleWatts\": 1, \"sustainableWatts\": 2}").solve()
    #expect(tight.objective == 20)
    #expect(tight.limitedBy == "power")
    #expect(
      tight.remark
        == "power-bound: 0.050 frames/s; the fastest plan (0.125 frames/s while cool) would sustain only 0.020 frames/s"
    )
    let ample = try problem("sustained", ", \"power\": {\"idleWatts\": 1, \"sustainableWatts\": 101}").solve()
    #expect(ample.placement == ["a": "gpu", "b": "cpu"])
    #expect(ample.remark?.hasSuffix("limits the rate, not power: 0.145 frames/s") == true)
  }

  /// 80 J for 2 of 11 frames, which both nodes spend on `gpu`, and 50 J for the others.
  @Test func powerWhileCopyingCounts() throws {
    let text = try problem("sustained", ", \"power\": {\"idleWatts\": 1, \"sustainableWatts\": 101}")
    #expect(isClose(try text.solve().joules, 50 + 60.0 / 11))
    let watts = try PlanningProblem(
      devices: text.devices, host: text.host,
      transfers: text.transfers.map { .init(from: $0.from, to: $0.to, latency: 1, bytesPerSecond: nil, watts: 3) },
      inputs: text.inputs, outputs: text.outputs, nodes: text.nodes, goal: .sustained, power: text.power)
    #expect(isClose(try watts.solve().joules, 56 + 60.0 / 11))
  }

  /// `cpu` starts at once and takes 16 s, `gpu` starts in 9 s and takes 11 s: 9 + 11 n < 16 n from n = 2 on.
  @Test func oneShotStatesTheBreakEvenRunCount() throws {
    let start = ", \"start\": {\"load\": 1, \"runs\": 0, \"devices\": {\"gpu\": 9}}"
    let once = try problem("one-shot", start).solve()
    #expect(once.placement == ["a": "cpu", "b": "cpu"])
    #expect(once.objective == 17)
    #expect(once.startSeconds == 1)
    #expect(
      once.flips == [
        PlanFlip(runs: 1, from: "cpu", to: "gpu", startSeconds: 10, predicted: 11)
      ])
    let twice = try problem("one-shot", start.replacing("\"runs\": 0", with: "\"runs\": 1")).solve()
    #expect(twice.placement == ["a": "gpu", "b": "gpu"])
    #expect(twice.objective == 32)
    #expect(twice.method == .exact)
  }

  @Test func oneShotWithoutStartCostsEqualsLatency() throws {
    let solution = try problem("one-shot").solve()
    #expect(solution.objective == 11)
    #expect(solution.remark == "no start costs are given: the plan is that of goal 'latency'")
  }

  /// With `b` on `gpu`, `a` there too in 5 of 14 frames gives both 118/14.
  @Test func reasonNamesTheBottleneck() throws {
    let plan = try problem("throughput").explain()
    #expect(
      plan.nodes.map(\.reason) == [
        "cheapest here",
        "kept: moving costs more than it saves (gpu would save 1.00 s here and add 1.52 s to every frame)",
      ])
    #expect(isClose(plan.nodes[1].regret, 117.0 / 77))
    #expect(plan.hasExactRegrets)
    #expect(plan.bestSingleDevice?.device == "gpu")
    #expect(plan.bestSingleDevice?.solution.objective == 11)
  }

  @Test func sustainedNeedsAPowerBudgetAndEnergies() throws {
    let bare = #expect(throws: PlanningError.self) { try problem("sustained").solve() }
    #expect(bare?.code == .missing)
    #expect(bare?.remedy?.contains("sustainableWatts") == true)
    let text = try problem("sustained", ", \"power\": {\"idleWatts\": 1, \"sustainableWatts\": 3}")
    var nodes = text.nodes
    nodes[1].joules["gpu"] = nil
    let lacking = try PlanningProblem(
      devices: text.devices, host: text.host, transfers: text.transfers, inputs: text.inputs, outputs: text.outputs,
      nodes: nodes, goal: .sustained, power: text.power)
    let error = #expect(throws: PlanningError.self) { try lacking.solve() }
    #expect(error?.code == .missing)
    #expect(error?.node == "b")
    #expect(try lacking.with(exclude: ["gpu"]).solve().objective == 16)
  }

  @Test func everyGoalKeepsPinsExclusionsAndMemory() throws {
    for goal in Goal.allCases {
      let more = ", \"power\": {\"idleWatts\": 1, \"sustainableWatts\": 3}"
      let pinned = try problem(goal.rawValue, more + ", \"pins\": {\"b\": \"gpu\"}").solve()
      #expect(pinned.placement["b"] == "gpu", "\(goal)")
      let excluded = try problem(goal.rawValue, more + ", \"exclude\": [\"cpu\"]").solve()
      #expect(excluded.placement == ["a": "gpu", "b": "gpu"], "\(goal)")
      let small = try problem(goal.rawValue, more + ", \"memory\": {\"gpu\": 15}").solve()
      #expect(small.placement == ["a": "cpu", "b": "cpu"], "\(goal)")
    }
  }

  @Test func everyGoalHasAPolicy() {
    #expect(Set(policies.map(\.goal)) == Set(Goal.allCases))
  }
}

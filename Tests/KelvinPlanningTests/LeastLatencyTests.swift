import KelvinPlanning
import TestSupport
import Testing

@Suite struct LeastLatencyTests {
  private struct Sample {
    var seeds: Range<UInt64>
    var devices: Int
    var nodes: ClosedRange<Int>
  }

  private func compare(_ sample: Sample) {
    var feasible = 0
    for seed in sample.seeds {
      var made = RandomProblem(seed: seed, devices: sample.devices)
      let count = Int.random(in: sample.nodes, using: &made.random)
      let text = made.json(nodes: count)
      var least = Double.infinity
      do throws(PlanningError) {
        let problem = try PlanningProblem(text: text)
        let oracle = ExhaustiveSearch(problem)
        least = oracle.least()
        let solution = try problem.solve()
        let flaw = oracle.flaw(in: solution)
        let isRight =
          flaw == nil && abs(solution.predicted - least) < 1e-9 && solution.method == .exact && solution.gap == 0
        if !isRight {
          Issue.record("seed \(seed): \(solution.predicted), least \(least), \(flaw ?? "sound"): \(text)")
          return
        }
        feasible += 1
      } catch {
        let isRight = error.code == .infeasible && error.node != nil && least == .infinity
        if !isRight {
          Issue.record("seed \(seed): \(error), least \(least): \(text)")
          return
        }
      }
    }
    #expect(feasible > sample.seeds.count / (Tier.isSlow ? 2 : 4))
  }

  @Test func latencyEqualsExhaustiveSearchOnThreeDevices() {
    compare(Sample(seeds: Tier.some(300, of: 1_000..<4_000), devices: 3, nodes: 1...6))
  }

  @Test func latencyEqualsExhaustiveSearchOnNineNodes() {
    compare(Sample(seeds: Tier.some(50, of: 10_000..<10_500), devices: 3, nodes: 8...9))
  }

  @Test func latencyEqualsExhaustiveSearchOnTwelveNodes() {
    compare(Sample(seeds: Tier.some(50, of: 20_000..<20_500), devices: 2, nodes: 10...12))
  }

  @Test func latencyEqualsExhaustiveSearchOnFourDevices() {
    compare(Sample(seeds: Tier.some(60, of: 30_000..<30_600), devices: 4, nodes: 2...6))
  }

  @Test func limitedSearchBoundsTheOptimum() throws {
    var approximate = 0
    var excess = 0.0
    for seed in Tier.some(60, of: UInt64(45_000)..<45_600) {
      var made = RandomProblem(seed: seed, devices: 3)
      let text = made.json(nodes: 7)
      guard let problem = try? PlanningProblem(text: text) else { continue }
      let oracle = ExhaustiveSearch(problem)
      let least = oracle.least()
      for moves in [0, 150, 400] {
        guard let solution = try? LeastLatency(searchMoves: moves).solve(problem) else { continue }
        let flaw = oracle.flaw(in: solution)
        let isSound =
          flaw == nil && solution.lowerBound <= least + 1e-9 && least <= solution.predicted + 1e-9
          && (solution.method == .approximate || abs(solution.predicted - least) < 1e-9)
        if !isSound {
          Issue.record("seed \(seed): \(solution), least \(least), \(flaw ?? "sound"): \(text)")
          return
        }
        if solution.method == .approximate, least > 0 {
          approximate += 1
          excess += solution.predicted / least - 1
        }
      }
    }
    #expect(approximate > Tier.trials(5, of: 100))
    #expect(excess / Double(approximate) < (Tier.isSlow ? 0.05 : 0.1), "the mean of few trials scatters more")
  }

  /// Costs worked out by hand. On the cpu alone: 10 + 40 + 40 + 10 = 100. With the two middle nodes away: 10 + 1 + 5 +
  /// 5 + 1 + 10 = 32.
  @Test func chainIsSplitWhenItsMiddleIsCheaperElsewhere() throws {
    let problem = try PlanningProblem(text: Golden.chain)
    let solution = try problem.solve()
    #expect(solution.predicted == 32)
    #expect(solution.placement == ["a": "cpu", "b": "gpu", "c": "gpu", "d": "cpu"])
    #expect(
      solution.transfers.map { "\($0.value) \($0.from)>\($0.to) for \($0.node ?? "-")" } == [
        "x cpu>gpu for b", "z gpu>cpu for d",
      ])
  }

  /// A relay pays: straight from `a` to `c` takes 10, over `b` it takes 2, and `b` consumes the same copy.
  @Test func copiesRelayThroughAThirdDevice() throws {
    let solution = try PlanningProblem(text: Golden.relay).solve()
    #expect(solution.transfers.map { "\($0.value) \($0.from)>\($0.to)" } == ["x a>b", "x b>c", "y c>a", "z b>a"])
    #expect(solution.predicted == 2 + 1 + 1 + 1 + 1)
  }

  @Test func infeasibleNodeIsNamed() {
    let text = Golden.chain.replacing("{\"cpu\": 40, \"gpu\": 5}", with: "{}")
    let error = #expect(throws: PlanningError.self) { try PlanningProblem(text: text).solve() }
    #expect(error?.code == .infeasible)
    #expect(error?.node == "b")
  }

  @Test func nodeWithoutATransferRouteIsNamed() {
    let text = Golden.chain.replacing("\"pins\": {}", with: "\"pins\": {\"c\": \"gpu\"}")
      .replacing("\"from\": \"gpu\", \"to\": \"cpu\"", with: "\"from\": \"cpu\", \"to\": \"cpu\"")
    let error = #expect(throws: PlanningError.self) { try PlanningProblem(text: text).solve() }
    #expect(error?.code == .infeasible)
    #expect(["c", "d"].contains(error?.node))
  }
}

extension String {
  func replacing(_ part: String, with other: String) -> String {
    var result = ""
    var rest = self[...]
    while !rest.isEmpty {
      if rest.hasPrefix(part) {
        result += other
        rest = rest.dropFirst(part.count)
      } else {
        result.append(rest.removeFirst())
      }
    }
    return result
  }
}

/// Problems small enough to solve by hand.
enum Golden {
  static let chain = """
    {"devices": ["cpu", "gpu"], "host": "cpu",
     "transfers": [{"from": "cpu", "to": "gpu", "latency": 1}, {"from": "gpu", "to": "cpu", "latency": 1}],
     "inputs": [{"value": "in", "bytes": 8}], "outputs": ["out"],
     "nodes": [
       {"id": "a", "inputs": ["in"], "outputs": [{"value": "x", "bytes": 8}], "seconds": {"cpu": 10, "gpu": 30}},
       {"id": "b", "inputs": ["x"], "outputs": [{"value": "y", "bytes": 8}], "seconds": {"cpu": 40, "gpu": 5}},
       {"id": "c", "inputs": ["y"], "outputs": [{"value": "z", "bytes": 8}], "seconds": {"cpu": 40, "gpu": 5}},
       {"id": "d", "inputs": ["z"], "outputs": [{"value": "out", "bytes": 8}], "seconds": {"cpu": 10, "gpu": 30}}
     ], "pins": {}}
    """

  static let relay = """
    {"devices": ["a", "b", "c"], "host": "a",
     "transfers": [
       {"from": "a", "to": "b", "latency": 1}, {"from": "b", "to": "c", "latency": 1},
       {"from": "a", "to": "c", "latency": 10},
       {"from": "b", "to": "a", "latency": 1}, {"from": "c", "to": "a", "latency": 1}],
     "inputs": [{"value": "x", "bytes": 4}], "outputs": ["y", "z"],
     "nodes": [
       {"id": "far", "inputs": ["x"], "outputs": [{"value": "y", "bytes": 4}], "seconds": {"c": 1}},
       {"id": "near", "inputs": ["x"], "outputs": [{"value": "z", "bytes": 4}], "seconds": {"b": 1}}
     ]}
    """
}

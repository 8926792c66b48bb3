import KelvinBasics
import KelvinPlanning
import KelvinRuntime
import TestSupport
import Testing

@Suite struct CompiledMixtureTests {
  /// Shares of very different sizes, which sum to 1.
  private static func shares(_ random: inout SeededGenerator) -> [Double] {
    let weights = (0..<2 + random.index(below: 8)).map { _ in
      let unit = random.unit()
      return 1e-3 + unit * unit * unit
    }
    let sum = weights.reduce(0, +)
    return weights.map { $0 / sum }
  }

  @Test(arguments: Tier.seeds(UInt64(20), of: 400))
  func everyPlanKeepsItsShareWithinOneInference(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let shares = Self.shares(&random)
    let most = 1 - 1 / Double(2 * shares.count - 2) + 1e-6
    var turns = ShareTurns(shares)
    var counts = shares.map { _ in 0 }
    for made in 1...3_000 {
      counts[turns.next()] += 1
      for (count, share) in zip(counts, shares) where abs(Double(count) - share * Double(made)) > most {
        Issue.record("seed \(seed): \(count) of \(made) inferences for a share of \(share) among \(shares)")
        return
      }
    }
  }

  @Test func equalSharesAlternate() {
    var turns = ShareTurns([0.5, 0.5])
    let order = (0..<6).map { _ in turns.next() }
    #expect(order == [0, 1, 0, 1, 0, 1])
  }

  @Test func oneShareTakesAllTurns() {
    var turns = ShareTurns([1])
    #expect((0..<5).allSatisfy { _ in turns.next() == 0 })
  }

  /// Three nodes in a chain on two devices.
  private func explanation(_ goal: Goal, _ seconds: [(a: Double, b: Double)], copy: Double) throws -> PlanExplanation {
    try PlanningProblem(
      devices: ["a", "b"], host: "a",
      transfers: [("a", "b"), ("b", "a")].map { .init(from: $0, to: $1, latency: copy, bytesPerSecond: nil) },
      inputs: [.init(value: "x", bytes: 1_000)], outputs: ["v2"],
      nodes: seconds.enumerated().map { node, seconds in
        .init(
          id: "n\(node)", inputs: [node == 0 ? "x" : "v\(node - 1)"], outputs: [.init(value: "v\(node)", bytes: 1_000)],
          seconds: ["a": seconds.a, "b": seconds.b])
      }, goal: goal
    ).explain()
  }

  /// Two equal devices take whole predictions in turns. The best single plan shares its nodes between them, which no trial
  /// has shown to be faster, so callers that run one plan get that of one device.
  @Test(arguments: [0, 0.01, 0.1]) func wholePredictionsOnEachDeviceNeedNoTrial(copy: Double) throws {
    let best = try explanation(.throughput, [(1, 1), (1, 1), (1, 1)], copy: copy)
    let (plan, remark) = best.proven(by: nil, goal: .throughput)
    let mixture = try #require(plan.solution.mixture)
    #expect(mixture.plans.allSatisfy { Set($0.placement.values).count == 1 } && mixture.plans.count == 2)
    #expect(mixture.plans.reduce(-1) { $0 + $1.share }.magnitude < 1e-9)
    #expect(abs(plan.solution.objective - 1.5 - copy) < 1e-9 && mixture.singlePlanSeconds == 3)
    #expect(Set(plan.solution.placement.values) == ["a"] && remark == nil, "\(remark ?? "")")
  }

  /// The first node is faster on one device and the second on the other. The best plans pass predictions on, and whole
  /// predictions take a third longer.
  @Test func untriedPlansGiveWayToWholePredictions() throws {
    let best = try explanation(.throughput, [(1, 2), (2, 1), (1, 1)], copy: 0)
    #expect(abs(best.solution.objective - 1.5) < 1e-9)
    let (plan, remark) = best.proven(by: nil, goal: .throughput)
    let mixture = try #require(plan.solution.mixture)
    #expect(mixture.plans.allSatisfy { Set($0.placement.values).count == 1 } && mixture.plans.count == 2)
    #expect(abs(plan.solution.objective - 2) < 1e-9 && mixture.singlePlanSeconds == 4)
    let text = try #require(remark)
    #expect(text.contains("were not tried for the goal throughput, so devices run whole predictions"), "\(text)")
    #expect(text.contains("2 plans take turns: 50 % of the frames on "), "\(text)")
  }

  @Test func oneInferenceAtATimeHasNoMixture() throws {
    let best = try explanation(.latency, [(1, 1), (1, 1), (1, 1)], copy: 0)
    let plan = best.proven(by: nil, goal: .latency).explanation
    #expect(plan.solution.mixture == nil && plan.replicas == nil)
  }
}

import KelvinBasics
import KelvinPlanning
import Testing

/// A chain of nodes on a host and a card, each a little faster on one of them by turns.
private func chain(_ cpu: [Double], _ gpu: [Double], link: Double = 1e-6) throws -> PlanningProblem {
  try PlanningProblem(
    devices: ["cpu", "gpu:0"], host: "cpu",
    transfers: [
      .init(from: "cpu", to: "gpu:0", latency: link, bytesPerSecond: nil),
      .init(from: "gpu:0", to: "cpu", latency: link, bytesPerSecond: nil),
    ], inputs: [.init(value: "v0", bytes: 4)], outputs: ["v\(cpu.count)"],
    nodes: cpu.indices.map { index in
      .init(
        id: "n\(index)", inputs: ["v\(index)"], outputs: [.init(value: "v\(index + 1)", bytes: 4)],
        seconds: ["cpu": cpu[index], "gpu:0": gpu[index]])
    })
}

struct SettledPlanTests {
  @Test func singleDeviceWinsWithinNoise() throws {
    let problem = try chain([1e-3, 1e-3, 1e-3, 1e-3], [9.5e-4, 1.2e-3, 9.5e-4, 1.2e-3])
    let best = try problem.explain()
    #expect(Set(best.solution.placement.values).count == 2)
    let settled = best.settled(problem, noise: 0.05, kept: nil)
    #expect(Set(settled.solution.placement.values) == ["cpu"])
    #expect(settled.solution.remark?.contains("equal within noise") == true)
    #expect(settled.solution.lowerBound <= settled.solution.predicted && settled.solution.gap > 0)
    #expect(settled.nodes.allSatisfy { $0.device == "cpu" })
    let certain = best.settled(problem, noise: 0.001, kept: nil)
    #expect(Set(certain.solution.placement.values).count == 2)
    #expect(best.settled(problem, noise: 0, kept: nil) == best)
  }

  @Test func mixedPlanKeepsFewerCopiesAmongEquals() throws {
    // The middle gains on the card; the last two gain less than the noise.
    let cpu = [1e-3, 5e-3, 5e-3, 1e-3, 1e-3, 1e-3]
    let gpu = [3e-3, 1e-3, 1e-3, 3e-3, 9.9e-4, 3e-3]
    let problem = try chain(cpu, gpu)
    let best = try problem.explain()
    #expect(best.solution.transfers.count == 4)
    let settled = best.settled(problem, noise: 0.02, kept: nil)
    #expect(settled.solution.transfers.count == 2)
    #expect(settled.solution.placement["n1"] == "gpu:0" && settled.solution.placement["n4"] == "cpu")
  }

  @Test func previousPlanStaysAmongEquals() throws {
    let cpu = [1e-3, 5e-3, 1e-3, 1e-3]
    let gpu = [3e-3, 1e-3, 1.001e-3, 3e-3]
    let problem = try chain(cpu, gpu)
    let kept = ["n0": "cpu", "n1": "gpu:0", "n2": "gpu:0", "n3": "cpu"]
    let best = try problem.explain()
    #expect(best.solution.placement != kept)
    #expect(best.settled(problem, noise: 0.02, kept: kept).solution.placement == kept)
    #expect(best.settled(problem, noise: 0.02, kept: ["n0": "cpu"]).solution.placement != kept)
    // The plan is not claimed to be optimal.
    let placed = try #require(problem.solution(placing: kept, lowerBound: best.solution.lowerBound))
    #expect(placed.method == .approximate && placed.gap > 0 && placed.lowerBound == best.solution.predicted)
    #expect(problem.solution(placing: ["n0": "cpu"], lowerBound: 0) == nil)
    #expect(try problem.with(pins: ["n1": "cpu"]).solution(placing: kept, lowerBound: 0) == nil)
    let poor = ["n0": "gpu:0", "n1": "cpu", "n2": "gpu:0", "n3": "cpu"]
    #expect(best.settled(problem, noise: 0.02, kept: poor).solution.placement != poor)
  }

  /// Three profiles of one machine whose costs lie within noise of each other.
  @Test(arguments: 0..<20)
  func noisyProfilesGiveOnePlan(seed: Int) throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let cpu = (0..<40).map { _ in 5e-5 + 1e-4 * generator.unit() }
    let gpu = cpu.map { $0 * (1 + 0.01 * (generator.unit() - 0.5)) }
    var placements: Set<[String: String]> = []
    var kept: [String: String]?
    for _ in 0..<3 {
      let noisy = { (seconds: [Double]) in seconds.map { $0 * (1 + 0.04 * (generator.unit() - 0.5)) } }
      let problem = try chain(noisy(cpu), noisy(gpu))
      let plan = try problem.explain().settled(problem, noise: 0.05, kept: kept)
      kept = plan.solution.placement
      placements.insert(plan.solution.placement)
    }
    #expect(placements.count == 1, "seed \(seed)")
  }
}

import KelvinPlanning
import TestSupport
import Testing

@Suite struct PipelineTests {
  /// Returns the error of a solution against every placement and every mixture; nil if there is none.
  private func flaw(in solution: PlanSolution, _ problem: PlanningProblem, _ all: [[Double]]) -> String? {
    let search = ExhaustiveSearch(problem)
    if let flaw = search.flaw(in: solution) { return flaw }
    let single = all.map { $0.max() ?? 0 }.min() ?? .infinity
    let slack = 3e-9 * single
    guard let mixture = solution.mixture else {
      if abs(solution.objective - single) > slack { return "\(solution.objective), the best plan takes \(single)" }
      let least = PlacementOracle.leastMeanLoad(all)
      if solution.lowerBound > least * (1 + 1e-5) { return "the bound \(solution.lowerBound) is above \(least)" }
      return single - least > 0.0101 * single ? "a mixture takes \(least), one plan \(single)" : nil
    }
    if abs((mixture.singlePlanSeconds ?? .infinity) - single) > slack { return "the best plan takes \(single)" }
    if solution.method != .exact || solution.lowerBound > solution.objective { return "a mixture is not exact" }
    let shares = mixture.plans.map(\.share)
    guard abs(shares.reduce(0, +) - 1) < 1e-9, shares.allSatisfy({ $0 > 0 }) else { return "shares \(shares)" }
    var mixed = all[0].map { _ in 0.0 }
    var parts: [[Double]] = []
    for plan in mixture.plans {
      var alone = solution
      (alone.placement, alone.transfers, alone.mixture) = (plan.placement, plan.transfers, nil)
      alone.predicted =
        problem.nodes.reduce(0) { $0 + ($1.seconds[plan.placement[$1.id] ?? ""] ?? .infinity) }
        + plan.transfers.reduce(0) { $0 + $1.seconds }
      if let flaw = search.flaw(in: alone) { return flaw }
      let loads = PlacementOracle(problem).loads(of: alone)
      for load in mixed.indices { mixed[load] += plan.share * loads[load] }
      parts.append(loads)
    }
    if abs((mixed.max() ?? 0) - solution.objective) > slack { return "the shares give \(mixed)" }
    let largest = mixed.indices.filter { solution.objective - mixed[$0] < slack }
    // Plans that take no part may be needed for the proof, and then the search for weights decides.
    let isLeast =
      PlacementOracle.isLeast(solution.objective, parts, among: all, largest: largest)
      || solution.objective * (1 - 1e-5) <= PlacementOracle.leastMeanLoad(all)
    return isLeast ? nil : "\(solution.objective) is not the best mixture: \(mixture)"
  }

  private func compare(
    _ seeds: Range<UInt64>, devices: Int, nodes: ClosedRange<Int>, goal: Goal
  ) {
    var mixed = 0
    var feasible = 0
    for seed in seeds {
      var made = RandomProblem(seed: seed, devices: devices)
      let count = Int.random(in: nodes, using: &made.random)
      let text = made.json(nodes: count, goal: goal)
      var all: [[Double]] = []
      do throws(PlanningError) {
        let problem = try PlanningProblem(text: text)
        all = PlacementOracle(problem).loads(power: goal == .sustained)
        let solution = try problem.solve()
        if let flaw = flaw(in: solution, problem, all) {
          Issue.record("seed \(seed): \(flaw): \(text)")
          return
        }
        feasible += 1
        mixed += solution.mixture == nil ? 0 : 1
      } catch {
        if error.code != .infeasible || !all.isEmpty {
          Issue.record("seed \(seed): \(error): \(text)")
          return
        }
      }
    }
    #expect(feasible > seeds.count / (Tier.isSlow ? 2 : 4))
    #expect(mixed > feasible / 10)
  }

  /// Two equal devices and three equal nodes: a plan leaves two nodes to one of them, and two plans take turns.
  @Test func alternatingPlansShareThreeNodesEvenly() throws {
    let problem = try PlanningProblem(
      devices: ["a", "b"], host: "a",
      transfers: [("a", "b"), ("b", "a")].map { .init(from: $0, to: $1, latency: 0, bytesPerSecond: nil) },
      inputs: [.init(value: "x", bytes: 1_000)], outputs: ["v2"],
      nodes: (0..<3).map { node in
        .init(
          id: "n\(node)", inputs: [node == 0 ? "x" : "v\(node - 1)"], outputs: [.init(value: "v\(node)", bytes: 1_000)],
          seconds: ["a": 1, "b": 1])
      }, goal: .throughput)
    let solution = try problem.solve()
    let mixture = try #require(solution.mixture)
    #expect(solution.objective == 1.5 && solution.method == .exact && solution.gap == 0)
    #expect(mixture.plans.map(\.share) == [0.5, 0.5] && mixture.singlePlanSeconds == 2)
    #expect(mixture.text.hasPrefix("2 plans take turns: 50 % of the frames on "), "\(mixture.text)")
    #expect(mixture.text.hasSuffix("; the best one alone would reach 0.500 frames/s"), "\(mixture.text)")
  }

  @Test func throughputEqualsExhaustiveSearchOnThreeDevices() {
    compare(Tier.some(150, of: 100_000..<101_500), devices: 3, nodes: 1...5, goal: .throughput)
  }

  @Test func throughputEqualsExhaustiveSearchOnLongerGraphs() {
    compare(Tier.some(30, of: 102_000..<102_300), devices: 2, nodes: 6...9, goal: .throughput)
  }

  @Test func sustainedEqualsExhaustiveSearchOnThreeDevices() {
    compare(Tier.some(150, of: 104_000..<105_500), devices: 3, nodes: 1...5, goal: .sustained)
  }

  @Test func sustainedEqualsExhaustiveSearchOnLongerGraphs() {
    compare(Tier.some(30, of: 106_000..<106_300), devices: 2, nodes: 6...9, goal: .sustained)
  }

  @Test func limitedSearchBoundsTheLargestLoad() throws {
    var approximate = 0
    var excess = 0.0
    for seed in Tier.some(30, of: UInt64(108_000)..<108_300) {
      var made = RandomProblem(seed: seed, devices: 3)
      let text = made.json(nodes: 5, goal: .sustained)
      guard let problem = try? PlanningProblem(text: text) else { continue }
      let least = PlacementOracle.leastMeanLoad(PlacementOracle(problem).loads(power: true))
      for moves in [0, 300, 3_000] {
        guard let solution = try? Sustained(searchMoves: moves).solve(problem) else { continue }
        let flaw = ExhaustiveSearch(problem).flaw(in: solution)
        let isSound =
          flaw == nil && solution.lowerBound <= least * (1 + 1e-5) && least <= solution.objective * (1 + 1e-9)
        if !isSound {
          Issue.record("seed \(seed): \(solution), least \(least), \(flaw ?? "sound"): \(text)")
          return
        }
        guard solution.method == .approximate, least > 0 else { continue }
        approximate += 1
        excess += solution.objective / least - 1
      }
    }
    #expect(approximate > Tier.trials(5, of: 100))
    #expect(excess / Double(max(1, approximate)) < (Tier.isSlow ? 0.05 : 0.1), "the mean of few trials scatters more")
  }

  @Test func frameRegretsEqualSolvingWithThePinMoved() throws {
    var compared = 0
    for seed in Tier.some(10, of: UInt64(110_000)..<110_060) {
      var made = RandomProblem(seed: seed, devices: 3)
      let text = made.json(nodes: 5, goal: .throughput)
      guard let problem = try? PlanningProblem(text: text), let plan = try? problem.explain() else { continue }
      // A single plan is kept if a mixture gains less than 1 %, and its regret is not exact.
      guard plan.hasExactRegrets else { continue }
      for (node, record) in zip(problem.nodes, plan.nodes) {
        for candidate in record.candidates where candidate.seconds != nil && candidate.device != record.device {
          if let pin = problem.pins[node.id], pin != candidate.device { continue }
          let moved = (try? problem.with(pins: problem.pins.merging([node.id: candidate.device]) { $1 }).solve())?
            .objective
          let regret = moved.map { max(0, $0 - plan.solution.objective) }
          let agrees =
            regret.map { abs($0 - (candidate.regret ?? -1)) <= 3e-9 * plan.solution.objective + 1e-15 }
            ?? (candidate.regret == nil)
          if !agrees {
            Issue.record("seed \(seed) \(node.id): \(String(describing: regret)) \(candidate): \(text)")
            return
          }
          compared += 1
        }
      }
    }
    #expect(compared > Tier.trials(20, of: 200))
  }
}

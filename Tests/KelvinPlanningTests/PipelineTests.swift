import KelvinPlanning
import TestSupport
import Testing

@Suite struct PipelineTests {
  private func compare(
    _ seeds: Range<UInt64>, devices: Int, nodes: ClosedRange<Int>, goal: Goal
  ) {
    var exact = 0
    var feasible = 0
    for seed in seeds {
      var made = RandomProblem(seed: seed, devices: devices)
      let count = Int.random(in: nodes, using: &made.random)
      let text = made.json(nodes: count, goal: goal)
      var least = Double.infinity
      do throws(PlanningError) {
        let problem = try PlanningProblem(text: text)
        least = PlacementOracle(problem).leastLargestLoad(power: goal == .sustained)
        let solution = try problem.solve()
        let flaw = ExhaustiveSearch(problem).flaw(in: solution)
        let slack = 2e-9 * least
        let isRight =
          flaw == nil && solution.objective >= least - slack && solution.lowerBound <= least + slack
          && (solution.method == .approximate || abs(solution.objective - least) <= slack)
        if !isRight {
          Issue.record("seed \(seed): \(solution.objective), least \(least), \(flaw ?? "sound"): \(text)")
          return
        }
        feasible += 1
        exact += solution.method == .exact ? 1 : 0
      } catch {
        if error.code != .infeasible || least != .infinity {
          Issue.record("seed \(seed): \(error), least \(least): \(text)")
          return
        }
      }
    }
    #expect(feasible > seeds.count / (Tier.isSlow ? 2 : 4))
    #expect(exact == feasible)
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
      let least = PlacementOracle(problem).leastLargestLoad(power: true)
      for moves in [0, 300, 3_000] {
        guard let solution = try? Sustained(searchMoves: moves).solve(problem) else { continue }
        let flaw = ExhaustiveSearch(problem).flaw(in: solution)
        let isSound =
          flaw == nil && solution.lowerBound <= least * (1 + 2e-9) && least <= solution.objective * (1 + 2e-9)
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
      #expect(plan.hasExactRegrets)
      for (node, record) in zip(problem.nodes, plan.nodes) {
        for candidate in record.candidates where candidate.seconds != nil {
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
    #expect(compared > Tier.trials(20, of: 300))
  }
}

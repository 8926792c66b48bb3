import KelvinPlanning
import TestSupport
import Testing

@Suite struct OneShotTests {
  private static let counts = [0, 1, 2, 3, 5, 8, 20, 50, 200, 1_000, 100_000]

  /// The plan that the flips name for a number of runs: what it pays once, and seconds of an inference.
  private func line(_ first: PlanSolution, _ flips: [PlanFlip], _ runs: Int) -> (start: Double, seconds: Double) {
    let flip = flips.last { $0.runs <= runs }
    return flip.map { ($0.startSeconds, $0.predicted) } ?? (first.startSeconds ?? 0, first.predicted)
  }

  private func compare(_ seeds: Range<UInt64>, devices: Int, nodes: ClosedRange<Int>) throws {
    var feasible = 0
    var flipping = 0
    for seed in seeds {
      var made = RandomProblem(seed: seed, devices: devices)
      let count = Int.random(in: nodes, using: &made.random)
      let text = made.json(nodes: count, goal: .oneShot)
      var least = [Double.infinity]
      do throws(PlanningError) {
        let problem = try PlanningProblem(text: text)
        let asked = problem.start?.runs ?? 0
        least = PlacementOracle(problem).leastOneShot([asked] + Self.counts)
        let solution = try problem.solve()
        var none = problem.start ?? .init()
        none.runs = 0
        let first = try problem.with(start: none).solve()
        let flips = solution.flips ?? []
        let isRight =
          ExhaustiveSearch(problem).flaw(in: solution) == nil && solution.method == .exact
          && abs(solution.objective - least[0]) < 1e-9
          && zip(Self.counts, least.dropFirst()).allSatisfy { runs, least in
            let (start, seconds) = line(first, flips, runs)
            return abs(start + Double(1 + runs) * seconds - least) < 1e-9 * max(1, least)
          }
        if !isRight {
          Issue.record("seed \(seed): \(solution), least \(least): \(text)")
          return
        }
        feasible += 1
        flipping += flips.isEmpty ? 0 : 1
      } catch {
        if error.code != .infeasible || least[0] != .infinity {
          Issue.record("seed \(seed): \(error), least \(least): \(text)")
          return
        }
      }
    }
    #expect(feasible > seeds.count / (Tier.isSlow ? 2 : 4))
    #expect(flipping > seeds.count / (Tier.isSlow ? 10 : 40))
  }

  @Test func totalsEqualExhaustiveSearchOnThreeDevices() throws {
    try compare(Tier.some(100, of: 120_000..<121_000), devices: 3, nodes: 1...5)
  }

  @Test func totalsEqualExhaustiveSearchOnFourDevices() throws {
    try compare(Tier.some(20, of: 122_000..<122_080), devices: 4, nodes: 1...4)
  }

  @Test func regretsEqualSolvingWithThePinMoved() throws {
    var compared = 0
    for seed in Tier.some(20, of: UInt64(124_000)..<124_100) {
      var made = RandomProblem(seed: seed, devices: 3)
      let text = made.json(nodes: 6, goal: .oneShot)
      guard let problem = try? PlanningProblem(text: text), let plan = try? problem.explain() else { continue }
      #expect(plan.hasExactRegrets)
      for (node, record) in zip(problem.nodes, plan.nodes) {
        for candidate in record.candidates where candidate.seconds != nil {
          if let pin = problem.pins[node.id], pin != candidate.device { continue }
          let moved = (try? problem.with(pins: problem.pins.merging([node.id: candidate.device]) { $1 }).solve())?
            .objective
          let agrees =
            moved.map { abs($0 - plan.solution.objective - (candidate.regret ?? -1)) < 1e-9 }
            ?? (candidate.regret == nil)
          if !agrees {
            Issue.record("seed \(seed) \(node.id): \(String(describing: moved)) \(candidate): \(text)")
            return
          }
          compared += 1
        }
      }
    }
    #expect(compared > Tier.trials(40, of: 400))
  }
}

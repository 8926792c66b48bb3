import Foundation
import KelvinBasics
import KelvinPlanning
import TestSupport
import Testing

/// If nodes choose between two devices, the plan is optimal at any width.
@Suite struct TwoDeviceTests {
  /// `depth` layers of `width` nodes; each reads three values of the layer before, or the graph's input.
  static func layered(_ width: Int, _ depth: Int, devices: Int, goal: Goal = .latency, seed: UInt64) throws
    -> PlanningProblem
  {
    var random = SeededGenerator(seed: seed)
    let names = (0..<devices).map { "d\($0)" }
    let transfers = [PlanningProblem.Transfer].random(between: names, latency: 1e-6...1e-5, &random)
    var nodes: [PlanningProblem.Node] = []
    for layer in 0..<depth {
      for place in 0..<width {
        var reads = layer == 0 ? ["in"] : (0..<width).map { "v\(layer - 1).\($0)" }
        reads.shuffle(using: &random)
        nodes.append(
          .init(
            id: "n\(layer).\(place)", inputs: Array(reads.prefix(3)),
            outputs: [.init(value: "v\(layer).\(place)", bytes: Int.random(in: 1_000...200_000, using: &random))],
            seconds: Dictionary(
              uniqueKeysWithValues: names.map { ($0, Double.random(in: 5e-6...6e-5, using: &random)) })))
      }
    }
    return try PlanningProblem(
      devices: names, host: "d0", transfers: transfers, inputs: [.init(value: "in", bytes: 600_000)],
      outputs: (0..<width).map { "v\(depth - 1).\($0)" }, nodes: nodes, goal: goal)
  }

  /// A third device that everything can run on, at a price that nothing is worth, takes the cut away and leaves dynamic
  /// programming.
  @Test func minimumCutEqualsDynamicProgramming() throws {
    var split = 0
    for seed in Tier.some(10, of: UInt64(140_000)..<140_060) {
      let two = try LargeProblemTests.graph(80, reach: 3, devices: 2, latency: 1e-6...3e-5, seed: seed)
      let three = try PlanningProblem(
        devices: two.devices + ["far"], host: two.host, transfers: two.transfers, inputs: two.inputs,
        outputs: two.outputs,
        nodes: two.nodes.map { node in
          var node = node
          node.seconds["far"] = 1
          return node
        })
      let cut = try two.solve()
      let programme = try three.solve()
      #expect(cut.method == .exact && programme.method == .exact)
      #expect(abs(cut.predicted - programme.predicted) < 1e-9 * programme.predicted, "seed \(seed)")
      #expect(abs(cut.lowerBound - cut.predicted) < 1e-9 * cut.predicted)
      split += Set(cut.placement.values).count - 1
    }
    #expect(split > Tier.trials(2, of: 30))
  }

  /// Two devices compute, through a third that only carries; the oracle tries all placements and all relays.
  @Test func minimumCutIsExactWithRelayDevices() throws {
    var relayed = 0
    for seed in Tier.some(60, of: UInt64(141_000)..<141_400) {
      var made = RandomProblem(seed: seed, devices: 4)
      let text = made.json(nodes: 7)
      guard let free = try? PlanningProblem(text: text) else { continue }
      let computing = free.devices.filter { !free.exclude.contains($0) }.suffix(2)
      let nodes = free.nodes.map { node in
        var node = node
        node.seconds = node.seconds.filter { computing.contains($0.key) }
        if node.seconds.isEmpty { node.seconds = [computing.last ?? "cpu": 1] }
        return node
      }
      guard
        let problem = try? PlanningProblem(
          devices: free.devices, host: free.host, transfers: free.transfers, inputs: free.inputs, outputs: free.outputs,
          nodes: nodes, exclude: free.exclude, boundarySeconds: free.boundarySeconds)
      else { continue }
      let oracle = ExhaustiveSearch(problem)
      let least = oracle.least()
      guard let solution = try? problem.solve() else {
        #expect(least == .infinity, "seed \(seed): \(text)")
        continue
      }
      let flaw = oracle.flaw(in: solution)
      #expect(
        flaw == nil && solution.method == .exact && abs(solution.predicted - least) < 1e-9, "seed \(seed): \(text)")
      relayed += solution.transfers.contains { !computing.contains($0.to) && $0.to != problem.host } ? 1 : 0
    }
    #expect(relayed > Tier.trials(0, of: 10))
  }

  /// Eight nodes whose seconds, sizes and links span 12 decades, some of them 0, in random order.
  @Test func minimumCutIsExactForCostsOfTwelveDecades() throws {
    var split = 0
    for seed in Tier.some(1_000, of: UInt64(147_000)..<157_000) {
      var random = SeededGenerator(seed: seed)
      func seconds() -> Double {
        Int.random(in: 0..<4, using: &random) == 0 ? 0 : pow(10, Double.random(in: -9...3, using: &random))
      }
      var nodes: [PlanningProblem.Node] = []
      for node in 0..<8 {
        let reads = (0..<node).shuffled(using: &random).prefix(Int.random(in: 0...2, using: &random))
        nodes.append(
          .init(
            id: "n\(node)", inputs: reads.isEmpty ? ["in"] : reads.map { "v\($0)" },
            outputs: [.init(value: "v\(node)", bytes: Int.random(in: 0...1_000, using: &random))],
            seconds: ["d0": seconds(), "d1": seconds()]))
      }
      let problem = try PlanningProblem(
        devices: ["d0", "d1"], host: "d0",
        transfers: [("d0", "d1"), ("d1", "d0")].map {
          .init(from: $0, to: $1, latency: seconds(), bytesPerSecond: 1 / max(1e-9, seconds()))
        }, inputs: [.init(value: "in", bytes: 100)], outputs: seed % 2 == 0 ? ["v7"] : [], nodes: nodes)
      let solution = try problem.solve()
      let least = ExhaustiveSearch(problem).least()
      #expect(solution.method == .exact && solution.predicted <= least * (1 + 1e-9), "seed \(seed): \(problem)")
      #expect(solution.lowerBound <= least * (1 + 1e-9), "seed \(seed)")
      split += Set(solution.placement.values).count - 1
    }
    #expect(split > Tier.trials(300, of: 3_000))
  }

  @Test func wideGraphIsExactWithFewSearchedArcs() throws {
    let solution = try Self.layered(20, 200, devices: 2, seed: 142_000).solve()
    #expect(solution.method == .exact && solution.gap == 0)
    #expect(solution.searchStates < 4_000 * 300)
    #expect(Set(solution.placement.values).count == 2)
  }

  @Test func wideGraphRegretsEqualSolvingAgain() throws {
    let problem = try Self.layered(12, 6, devices: 2, seed: 143_000)
    let plan = try problem.explain()
    #expect(plan.hasExactRegrets)
    for (node, record) in zip(problem.nodes, plan.nodes) {
      let other = record.device == "d0" ? "d1" : "d0"
      let moved = try problem.with(pins: [node.id: other]).solve().predicted - plan.solution.predicted
      #expect(abs(moved - (record.regret ?? -1)) < 1e-12, "\(node.id)")
    }
    #expect(Set(plan.nodes.map(\.device)).count == 2)
  }

  /// Both devices cost the same everywhere and links cost nothing: any placement is as good, and the host keeps all.
  @Test func hostIsPreferredAmongEqualPlans() throws {
    var problem = try Self.layered(6, 5, devices: 2, seed: 144_000)
    problem = try PlanningProblem(
      devices: problem.devices, host: "d1",
      transfers: problem.transfers.map { .init(from: $0.from, to: $0.to, latency: 0, bytesPerSecond: nil) },
      inputs: problem.inputs, outputs: problem.outputs,
      nodes: problem.nodes.map {
        .init(id: $0.id, inputs: $0.inputs, outputs: $0.outputs, seconds: ["d0": 1, "d1": 1])
      })
    #expect(Set(try problem.solve().placement.values) == ["d1"])
  }

  @Test func singleDeviceRunsEverythingUnderEveryGoal() throws {
    for goal in [Goal.latency, .oneShot, .throughput] {
      let problem = try Self.layered(8, 3, devices: 1, goal: goal, seed: 146_000)
      let plan = try problem.explain()
      #expect(plan.solution.method == .exact, "\(goal)")
      let sum = problem.nodes.reduce(0) { $0 + ($1.seconds["d0"] ?? 0) }
      #expect(abs(plan.solution.predicted - sum) < 1e-12, "\(goal)")
    }
  }

  /// A cost that is never chosen, 10¹⁸ times the rest, must not blur what is.
  @Test func hugeCostsDoNotAffectTheChoice() throws {
    let problem = try Self.layered(8, 6, devices: 2, seed: 145_000)
    let nodes = problem.nodes.enumerated().map { number, node in
      var node = node
      if number % 5 == 0 { node.seconds["d1"] = 1e12 }
      return node
    }
    func solve(without dear: Bool) throws -> PlanSolution {
      try PlanningProblem(
        devices: problem.devices, host: problem.host, transfers: problem.transfers, inputs: problem.inputs,
        outputs: problem.outputs,
        nodes: nodes.map { node in
          var node = node
          if dear, node.seconds["d1"] == 1e12 { node.seconds["d1"] = nil }
          return node
        }
      ).solve()
    }
    let (blurred, clear) = (try solve(without: false), try solve(without: true))
    #expect(blurred.placement == clear.placement)
    #expect(blurred.predicted == clear.predicted)
  }
}

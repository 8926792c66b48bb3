import KelvinBasics
import KelvinPlanning
import TestSupport
import Testing

@Suite struct LargeProblemTests {
  /// Each node reads the value before it and, with even odds, each of the `reach - 1` before that.
  static func graph(_ count: Int, reach: Int, devices: Int, latency: ClosedRange<Double>, seed: UInt64) throws
    -> PlanningProblem
  {
    var random = SeededGenerator(seed: seed)
    let names = (0..<devices).map { "d\($0)" }
    let transfers = [PlanningProblem.Transfer].random(between: names, latency: latency, &random)
    var nodes: [PlanningProblem.Node] = []
    var values = ["in"]
    for i in 0..<count {
      var inputs = [values[values.count - 1]]
      for back in 2..<max(2, reach + 1) where values.count >= back && Bool.random(using: &random) {
        inputs.append(values[values.count - back])
      }
      values.append("v\(i)")
      nodes.append(
        .init(
          id: "n\(i)", inputs: inputs,
          outputs: [.init(value: "v\(i)", bytes: Int.random(in: 1_000...200_000, using: &random))],
          seconds: Dictionary(uniqueKeysWithValues: names.map { ($0, Double.random(in: 5e-6...6e-5, using: &random)) }))
      )
    }
    return try PlanningProblem(
      devices: names, host: "d0", transfers: transfers, inputs: [.init(value: "in", bytes: 600_000)],
      outputs: ["v\(count - 1)"], nodes: nodes)
  }

  @Test func longGraphIsPlannedExactlyWithFewStates() throws {
    for latency in Tier.some(1, of: [1e-6...1e-5, 1e-7...1e-6, 1e-5...1e-4]) {
      let problem = try Self.graph(10_000, reach: 3, devices: 3, latency: latency, seed: 80_000)
      let solution = try problem.solve()
      #expect(solution.method == .exact)
      #expect(solution.searchStates <= 10_000 * 40)
      #expect(
        solution.predicted <= (0..<3).map { d in problem.nodes.reduce(0) { $0 + ($1.seconds["d\(d)"] ?? 0) } }.min()
          ?? 0)
    }
  }

  @Test func wideGraphIsPlannedApproximatelyWithItsGap() throws {
    let problem = try TwoDeviceTests.layered(40, 20, devices: 4, seed: 80_001)
    let solution = try problem.solve()
    #expect(solution.method == .approximate)
    #expect(solution.gap > 0 && solution.gap < 0.02)
    #expect(solution.lowerBound < solution.predicted)
    #expect(abs(solution.gap - (solution.predicted - solution.lowerBound) / solution.lowerBound) < 1e-12)
    #expect(solution.searchStates <= 50_000_000)
    let flaw = ExhaustiveSearch(problem).flaw(in: solution)
    #expect(flaw == nil)
    for single in try problem.explain().singleDevices { #expect(solution.predicted <= single.predicted) }
  }

  /// The test bounds the number of elementary moves; it does not measure time.
  @Test(arguments: [20, 40]) func layeredGraphsOfThreeDevicesStateSmallGaps(width: Int) throws {
    for seed in Tier.some(2, of: UInt64(81_000)..<81_010) {
      let solution = try TwoDeviceTests.layered(width, 20, devices: 3, seed: seed).solve()
      #expect(solution.gap <= 0.01, "seed \(seed)")
      #expect(solution.searchStates < 40_000_000, "seed \(seed)")
    }
  }

  @Test(.slow, arguments: [2, 3]) func throughputOfWideGraphsIsNearItsBound(devices: Int) throws {
    let policy = MaximumThroughput(searchMoves: 20_000_000)
    for seed in UInt64(82_000)..<82_002 {
      let problem = try TwoDeviceTests.layered(20, 12, devices: devices, goal: .throughput, seed: seed)
      let solution = try policy.solve(problem)
      #expect(solution.gap < 0.1, "seed \(seed): \(solution.gap)")
      let flaw = ExhaustiveSearch(problem).flaw(in: solution)
      #expect(flaw == nil, "seed \(seed): \(flaw ?? "")")
      #expect(try policy.solve(problem) == solution)
    }
  }

  @Test func manyInputsOfOneNodeStayCheap() throws {
    let names = (0..<400).map { "x\($0)" }
    let problem = try PlanningProblem(
      devices: ["a", "b"], host: "a",
      transfers: [
        .init(from: "a", to: "b", latency: 1, bytesPerSecond: nil),
        .init(from: "b", to: "a", latency: 1, bytesPerSecond: nil),
      ],
      inputs: names.map { .init(value: $0, bytes: 1) }, outputs: ["y"],
      nodes: [
        .init(id: "all", inputs: names, outputs: [.init(value: "s", bytes: 1)], seconds: ["a": 500, "b": 10]),
        .init(
          id: "again", inputs: names + ["s"], outputs: [.init(value: "y", bytes: 1)], seconds: ["a": 500, "b": 20]),
      ])
    let plan = try problem.explain()
    #expect(plan.solution.predicted == 10 + 20 + 400 + 1)
    #expect(plan.solution.transfers.count == 401)
  }
}

import KelvinBasics
import KelvinPlanning
import TestSupport
import Testing

@Suite struct MemoryLimitTests {
  private static func limited(_ bytes: Int) -> String {
    Golden.chain.replacing("\"pins\": {}", with: "\"memory\": {\"gpu\": \(bytes)}")
  }

  @Test func looseLimitChangesNothing() throws {
    let solution = try PlanningProblem(text: Self.limited(16)).solve()
    #expect(solution.predicted == 32)
    #expect(solution.method == .exact)
  }

  @Test func tooLargeNodeRunsElsewhere() throws {
    let plan = try PlanningProblem(text: Self.limited(15)).explain()
    #expect(plan.solution.predicted == 100)
    #expect(Set(plan.solution.placement.values) == ["cpu"])
    #expect(plan.nodes[1].reason == "its values do not fit on gpu")
  }

  /// With `d` on the gpu, `x` would stay there while `c` makes `z` from `y`: 24 bytes.
  @Test func planBeyondTheLimitIsReplaced() throws {
    let text = Golden.chain.replacing("\"inputs\": [\"z\"]", with: "\"inputs\": [\"z\", \"x\"]")
      .replacing("{\"value\": \"out\", \"bytes\": 8}", with: "{\"value\": \"out\", \"bytes\": 0}")
      .replacing("{\"cpu\": 10, \"gpu\": 30}}\n ]", with: "{\"cpu\": 10, \"gpu\": 1}}\n ]")
    let free = try PlanningProblem(text: text).solve()
    #expect(free.placement["d"] == "gpu")
    let tight = try PlanningProblem(text: text.replacing("\"pins\": {}", with: "\"memory\": {\"gpu\": 16}")).solve()
    #expect(tight.predicted > free.predicted)
    #expect(tight.method == .exact)
    #expect(tight.placement["d"] == "cpu")
  }

  @Test func longLimitedPlanStatesItsGap() throws {
    let free = try LargeProblemTests.graph(60, reach: 3, devices: 3, latency: 1e-7...1e-6, seed: 131_000)
    let best = try free.solve()
    var approximate = 0
    for bytes in stride(from: 400_000, through: 900_000, by: 50_000) {
      let tight = try PlanningProblem(
        devices: free.devices, host: free.host, transfers: free.transfers, inputs: free.inputs, outputs: free.outputs,
        nodes: free.nodes, memory: ["d1": bytes, "d2": bytes])
      let solution = try tight.solve()
      #expect(ExhaustiveSearch(tight).flaw(in: solution) == nil)
      #expect(solution.lowerBound >= best.predicted)
      #expect(solution.predicted >= solution.lowerBound)
      #expect(solution.gap < 0.5)
      guard solution.method == .approximate else { continue }
      #expect(solution.gap > 0)
      approximate += 1
    }
    #expect(approximate > 0)
  }

  @Test func nodeIsNamedWhenNothingFits() {
    let text = Golden.chain.replacing("\"pins\": {}", with: "\"memory\": {\"gpu\": 8, \"cpu\": 8}")
    let error = #expect(throws: PlanningError.self) { try PlanningProblem(text: text).solve() }
    #expect(error?.code == .infeasible)
    #expect(error?.node != nil)
  }

  /// A chain with shortcuts, which has one order, on two devices, which have one route for copies: every placement can
  /// be replayed.
  private static func chain(_ nodes: ClosedRange<Int>, seed: UInt64, limits: (b: ClosedRange<Int>, a: ClosedRange<Int>))
    -> PlanningProblem?
  {
    chain(nodes, seed: seed, limits: limits, weights: 0...0)
  }

  /// Every third node shares its weight with the one before, or the third of seven if weights are streamed. Every fourth
  /// weight has another size on `b`.
  ///
  /// - Parameter streams: the seconds in which `b` copies a node's own weights; nil where it keeps them.
  private static func chain(
    _ nodes: ClosedRange<Int>, seed: UInt64, limits: (b: ClosedRange<Int>, a: ClosedRange<Int>),
    weights: ClosedRange<Int>, values: ClosedRange<Int> = 1...9, streams: ClosedRange<Int>? = nil
  ) -> PlanningProblem? {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: nodes, using: &random)
    var last: [PlanningProblem.Weight] = []
    var made: [PlanningProblem.Node] = []
    for i in 0..<count {
      var reads = [i == 0 ? "in" : "v\(i - 1)"]
      if i > 1, Bool.random(using: &random) { reads.append("v\(Int.random(in: 0..<(i - 1), using: &random))") }
      if weights.upperBound > 0, i % (streams == nil ? 3 : 7) != 2 {
        last = [.init(weight: "w\(i)", bytes: Int.random(in: weights, using: &random))]
        if i % 4 == 0 {
          last[0].devices = ["a"]
          last.append(
            .init(weight: "w\(i), packed", bytes: Int.random(in: weights, using: &random), devices: ["b"]))
        }
      }
      made.append(
        .init(
          id: "n\(i)", inputs: reads, outputs: [.init(value: "v\(i)", bytes: Int.random(in: values, using: &random))],
          weights: last,
          seconds: [
            "a": Double(Int.random(in: 1...100, using: &random)), "b": Double(Int.random(in: 1...40, using: &random)),
          ]))
      if let streams { made[i].streamSeconds["b"] = Double(Int.random(in: streams, using: &random)) }
    }
    return try? PlanningProblem(
      devices: ["a", "b"], host: "a",
      transfers: [
        .init(from: "a", to: "b", latency: Double(Int.random(in: 0...20, using: &random)), bytesPerSecond: nil),
        .init(from: "b", to: "a", latency: Double(Int.random(in: 0...20, using: &random)), bytesPerSecond: nil),
      ],
      inputs: [.init(value: "in", bytes: 3)], outputs: ["v\(count - 1)"], nodes: made,
      memory: ["b": Int.random(in: limits.b, using: &random), "a": Int.random(in: limits.a, using: &random)])
  }

  /// A reduced placement is within the limits. If copies take no time, it differs from the wanted one only for lack of
  /// memory.
  @Test func reducedPlacementsFit() throws {
    var moved = 0
    for seed in Tier.some(50, of: UInt64(133_000)..<133_300) {
      guard let problem = Self.chain(3...12, seed: seed, limits: (20...60, 500...500), weights: 2...9) else { continue }
      let free = try PlanningProblem(
        devices: problem.devices, host: problem.host,
        transfers: problem.transfers.map { .init(from: $0.from, to: $0.to, latency: 0, bytesPerSecond: nil) },
        inputs: problem.inputs, outputs: problem.outputs, nodes: problem.nodes)
      let wanted = Dictionary(uniqueKeysWithValues: problem.nodes.map { ($0.id, "b") })
      #expect(try free.reduced(wanted) == wanted, "seed \(seed)")
      let placement = try problem.reduced(wanted)
      #expect(problem.solution(placing: placement, lowerBound: 0) != nil, "seed \(seed)")
      if placement != wanted { moved += 1 }
    }
    #expect(moved > 0)
  }

  @Test func smallLimitedPlansEqualExhaustiveSearch() throws {
    var limited = 0
    var infeasible = 0
    for seed in Tier.some(100, of: UInt64(130_000)..<130_600) {
      guard let problem = Self.chain(2...8, seed: seed, limits: (6...24, 12...60)) else {
        infeasible += 1
        continue
      }
      let least = Self.leastFitting(problem)
      do throws(PlanningError) {
        let solution = try problem.solve()
        let isRight = solution.method == .exact && abs(solution.predicted - least) < 1e-9
        if !isRight { Issue.record("seed \(seed): \(solution), least \(least)") }
        limited += 1
      } catch {
        if error.code != .infeasible || least.isFinite { Issue.record("seed \(seed): \(error), least \(least)") }
        infeasible += 1
      }
    }
    #expect(limited > Tier.trials(30, of: 300))
    #expect(infeasible > Tier.trials(0, of: 10))
  }

  /// Weights of 20 to 400 bytes on a device of 200 to 1,600; the host holds all.
  @Test func weightsThatDoNotFitRunElsewhereAtLeastCost() throws {
    var exact = 0
    var partly = 0
    for seed in Tier.some(12, of: UInt64(133_000)..<133_120) {
      let problem = try #require(
        Self.chain(15...16, seed: seed, limits: (200...1_600, 100_000...100_000), weights: 20...400))
      let least = Self.leastFitting(problem)
      let solution = try problem.solve()
      #expect(ExhaustiveSearch(problem).flaw(in: solution) == nil, "seed \(seed)")
      #expect(abs(solution.predicted - least) <= 0.02 * least, "seed \(seed): \(solution.predicted), least \(least)")
      #expect(solution.lowerBound <= least * (1 + 1e-9) && solution.gap <= 0.02, "seed \(seed): gap \(solution.gap)")
      #expect(solution.method == .approximate || abs(solution.predicted - least) < 1e-9 * least, "seed \(seed)")
      exact += solution.method == .exact ? 1 : 0
      partly += Set(solution.placement.values).count - 1
    }
    #expect(exact > Tier.trials(9, of: 90) && partly > Tier.trials(9, of: 90))
  }

  /// Values take as much memory as weights. A short search states a larger gap, but no bound above the optimum.
  @Test func boundsHoldHoweverShortTheSearch() throws {
    var stopped = 0
    for seed in Tier.some(6, of: UInt64(134_000)..<134_120) {
      let problem = try #require(
        Self.chain(
          15...16, seed: seed, limits: (300...1_600, 100_000...100_000), weights: 20...400, values: 20...200))
      let least = Self.leastFitting(problem)
      for moves in [10_000, 200_000, 100_000_000] {
        let solution = try LeastLatency(searchMoves: moves).solve(problem)
        #expect(ExhaustiveSearch(problem).flaw(in: solution) == nil, "seed \(seed), \(moves) moves")
        #expect(
          solution.lowerBound <= least * (1 + 1e-9) && least <= solution.predicted * (1 + 1e-9),
          "seed \(seed), \(moves) moves: \(solution.lowerBound) to \(solution.predicted), least \(least)")
        stopped += solution.method == .approximate ? 1 : 0
        #expect(moves < 100_000_000 || solution.gap <= 0.02, "seed \(seed): gap \(solution.gap)")
      }
    }
    #expect(stopped > 0)
  }

  /// As in networks for images, values shrink along the chain and weights grow.
  @Test func longChainsHoldWeightsBesideValuesAtLeastCost() throws {
    for seed in Tier.some(12, of: UInt64(135_000)..<135_120) {
      var random = SeededGenerator(seed: seed)
      let count = Int.random(in: 24...30, using: &random)
      let nodes = (0..<count).map { i in
        let size = 1 + 2 * i * i / count
        return PlanningProblem.Node(
          id: "n\(i)", inputs: [i == 0 ? "in" : "v\(i - 1)"],
          outputs: [.init(value: "v\(i)", bytes: 4 * (count - i) + Int.random(in: 0...9, using: &random))],
          weights: [.init(weight: "w\(i)", bytes: Int.random(in: size...(2 * size), using: &random))],
          seconds: [
            "a": Double(Int.random(in: 50...100, using: &random)), "b": Double(Int.random(in: 1...20, using: &random)),
          ])
      }
      let weights = nodes.reduce(0) { $0 + $1.weights[0].bytes }
      let latency = Double(Int.random(in: 0...20, using: &random))
      let problem = try PlanningProblem(
        devices: ["a", "b"], host: "a",
        transfers: [("a", "b"), ("b", "a")].map { .init(from: $0, to: $1, latency: latency, bytesPerSecond: nil) },
        inputs: [.init(value: "in", bytes: 4 * count)], outputs: ["v\(count - 1)"], nodes: nodes,
        memory: ["b": weights * Int.random(in: 5...60, using: &random) / 100 + 4 * count])
      let least = Self.leastOfChain(problem, latency: latency)
      let solution = try problem.solve()
      #expect(
        solution.lowerBound <= least * (1 + 1e-9) && least <= solution.predicted * (1 + 1e-9) && solution.gap <= 0.02,
        "seed \(seed): \(solution.lowerBound) to \(solution.predicted), least \(least)")
    }
  }

  /// The least total of a chain on `a` and a limited `b`, by dynamic programming over the bytes of weights on `b`, for
  /// each most bytes of a node's values there.
  private static func leastOfChain(_ problem: PlanningProblem, latency: Double) -> Double {
    let outputs = problem.nodes.map { $0.outputs[0].bytes }
    let values = zip([problem.inputs[0].bytes] + outputs, outputs).map { $0 + $1 }
    let seconds = problem.nodes.map { node in ["a", "b"].map { node.seconds[$0] ?? .infinity } }
    var best = Double.infinity
    for most in Set(values) {
      let room = (problem.memory["b"] ?? 0) - most
      guard room >= 0 else { continue }
      var onA = Array(repeating: Double.infinity, count: room + 1)
      var onB = onA
      onA[0] = 0
      for (i, node) in problem.nodes.enumerated() {
        let (lastA, lastB) = (onA, onB)
        for bytes in 0...room {
          onA[bytes] = min(lastA[bytes], lastB[bytes] + latency) + seconds[i][0]
          let before = bytes - node.weights[0].bytes
          let fits = before >= 0 && values[i] <= most
          onB[bytes] = fits ? min(lastA[before] + latency, lastB[before]) + seconds[i][1] : .infinity
        }
      }
      for bytes in 0...room { best = min(best, onA[bytes], onB[bytes] + latency) }
    }
    return best
  }

  @Test func sharedWeightCountsOnce() throws {
    let shared = [PlanningProblem.Weight(weight: "w", bytes: 60)]
    func problem(_ weights: [[PlanningProblem.Weight]]) throws -> PlanningProblem {
      try PlanningProblem(
        devices: ["a", "b"], host: "a",
        transfers: [("a", "b"), ("b", "a")].map { .init(from: $0, to: $1, latency: 1, bytesPerSecond: nil) },
        inputs: [.init(value: "x", bytes: 1)], outputs: ["v1"],
        nodes: weights.enumerated().map { node, weights in
          .init(
            id: "n\(node)", inputs: [node == 0 ? "x" : "v0"], outputs: [.init(value: "v\(node)", bytes: 1)],
            weights: weights, seconds: ["a": 100, "b": 1])
        }, memory: ["b": 100])
    }
    #expect(try problem([shared, shared]).solve().predicted == 4)
    let other = [PlanningProblem.Weight(weight: "other", bytes: 60)]
    let plan = try problem([shared, other]).explain()
    #expect(plan.solution.predicted == 103 && plan.solution.method == .exact)
    #expect(
      plan.nodes.contains {
        $0.reason == "no room on b for its 60 B of weights beside the others (it would save 99.0 s here)"
      })
    let differing = [PlanningProblem.Weight(weight: "w", bytes: 61)]
    let error = #expect(throws: PlanningError.self) { try problem([shared, differing]) }
    #expect("\(try #require(error))".contains("weight 'w' has 61 bytes, but 60 bytes in an earlier node"))
    // On `b`, both weights take 45 bytes.
    let packed = [[60, 45], [60, 45]].enumerated().map { node, bytes in
      zip(["a", "b"], bytes).map {
        PlanningProblem.Weight(weight: "w\(node) on \($0)", bytes: $1, devices: [$0])
      }
    }
    #expect(try problem(packed).solve().predicted == 4)
    let elsewhere = [PlanningProblem.Weight(weight: "w", bytes: 60, devices: ["b"])]
    #expect(throws: PlanningError.self) { try problem([shared, elsewhere]) }
    let stranger = [PlanningProblem.Weight(weight: "w", bytes: 60, devices: ["c"])]
    #expect(throws: PlanningError.self) { try problem([stranger]) }
  }

  /// Too many placements for the planner to look at each: what it prices must come close to the best of all that fit.
  @Test(.slow) func largeLimitedPlansAreNearTheOptimum() throws {
    var excess = 0.0
    var bound = 0
    for seed in UInt64(132_000)..<132_006 {
      let problem = try #require(Self.chain(16...16, seed: seed, limits: (20...26, 60...60)))
      let least = Self.leastFitting(problem)
      let solution = try problem.solve()
      #expect(ExhaustiveSearch(problem).flaw(in: solution) == nil)
      #expect(solution.lowerBound <= least + 1e-9 && least <= solution.predicted + 1e-9, "seed \(seed)")
      #expect(solution.method == .approximate || abs(solution.predicted - least) < 1e-9, "seed \(seed)")
      excess += solution.predicted / least - 1
      bound += solution.method == .approximate ? 1 : 0
    }
    #expect(bound >= 2)
    #expect(excess / 6 < 0.03)
  }

  @Test func smallStreamingPlansEqualExhaustiveSearch() throws {
    var streaming = 0
    for seed in Tier.some(60, of: UInt64(134_000)..<134_400) {
      guard
        let problem = Self.chain(4...8, seed: seed, limits: (25...70, 500...500), weights: 7...14, streams: 0...30)
      else { continue }
      let least = Self.leastFitting(problem)
      let solution = try problem.solve()
      #expect(ExhaustiveSearch(problem).flaw(in: solution) == nil, "seed \(seed)")
      #expect(
        solution.method == .exact && abs(solution.predicted - least) < 1e-9,
        "seed \(seed): \(solution), least \(least)")
      streaming += solution.streamed == nil ? 0 : 1
      if let frames = try? problem.with(goal: .throughput).solve() {
        #expect(frames.streamed == nil, "seed \(seed)")
      }
    }
    #expect(streaming > Tier.trials(0, of: 20))
  }

  /// Too many placements for the planner to look at each.
  @Test(.slow) func longStreamingPlansAreWithinTheirGap() throws {
    var streaming = 0
    for seed in UInt64(135_000)..<135_012 {
      let problem = try #require(
        Self.chain(
          15...16, seed: seed, limits: (700...2_500, 100_000...100_000), weights: 100...300, streams: 0...30))
      let solution = try problem.solve()
      let least = min(Self.leastFitting(problem, below: solution.predicted * (1 - 1e-9)), solution.predicted)
      #expect(ExhaustiveSearch(problem).flaw(in: solution) == nil, "seed \(seed)")
      #expect(solution.lowerBound <= least * (1 + 1e-9), "seed \(seed): \(solution.lowerBound), least \(least)")
      #expect(solution.predicted <= 1.05 * least, "seed \(seed): \(solution.predicted), least \(least)")
      #expect(solution.method == .approximate || solution.predicted <= least * (1 + 1e-9), "seed \(seed)")
      streaming += solution.streamed == nil ? 0 : 1
    }
    #expect(streaming > 3)
  }

  /// Two places of a ring take 120 bytes, so of three weights all are streamed, or none.
  @Test func streamedWeightsTakeTurnsInARing() throws {
    func problem(_ memory: Int, _ seconds: Double) throws -> PlanningProblem {
      try PlanningProblem(
        devices: ["a", "b"], host: "a",
        transfers: [("a", "b"), ("b", "a")].map { .init(from: $0, to: $1, latency: 1, bytesPerSecond: nil) },
        inputs: [.init(value: "v0", bytes: 1)], outputs: ["v3"],
        nodes: (0..<3).map { node in
          .init(
            id: "n\(node)", inputs: ["v\(node)"], outputs: [.init(value: "v\(node + 1)", bytes: 1)],
            weights: [.init(weight: "w\(node)", bytes: 60)], seconds: ["a": 100, "b": 1],
            streamSeconds: ["b": seconds])
        }, memory: ["b": memory])
    }
    let plan = try problem(150, 2).explain()
    #expect(plan.solution.predicted == 11 && plan.solution.method == .exact)
    #expect(plan.solution.streamed == ["n0", "n1", "n2"])
    #expect(plan.nodes.allSatisfy { $0.reason == "its 60 B of weights are copied to b before each use" })
    #expect(plan.bestSingleDevice?.device == "b" && plan.bestSingleDevice?.predicted == 11)
    // On the host it needs two more copies, and the other two weights stay.
    #expect(plan.nodes[1].regret.map { abs($0 - (106 - 11)) < 1e-9 } == true)
    // Two weights stay, where the copies take longer than the host.
    let slow = try problem(150, 200).solve()
    #expect(slow.streamed == nil && slow.predicted == 104)
    #expect(try problem(190, 2).solve().streamed == nil)
    let read = try PlanningProblem(json: try JSONText.encode(try problem(150, 2)))
    #expect(try read == problem(150, 2))
    let error = #expect(throws: PlanningError.self) { try problem(150, -1) }
    #expect("\(try #require(error))".contains("streamSeconds on 'b'"))
  }

  private static func leastFitting(_ problem: PlanningProblem, below limit: Double = .infinity) -> Double {
    let count = problem.nodes.count
    let readers = problem.nodes.flatMap(\.weights).reduce(into: [:]) { $0[$1.weight, default: 0] += 1 }
    let own = problem.nodes.map { node in
      node.weights.filter { readers[$0.weight] == 1 && $0.devices?.contains("b") ?? true }.reduce(0) { $0 + $1.bytes }
    }
    let seconds = problem.nodes.map { node in ["a", "b"].map { node.seconds[$0] ?? .infinity } }
    var best = limit
    for mask in 0..<(1 << count) {
      let place = (0..<count).map { mask >> $0 & 1 }
      var total = (0..<count).reduce(0) { $0 + seconds[$1][place[$1]] }
      if total >= best { continue }
      var sizes = ["in": 3]
      var home = ["in": 0]
      var made = ["in": 0]
      for (i, node) in problem.nodes.enumerated() {
        sizes[node.outputs[0].value] = node.outputs[0].bytes
        home[node.outputs[0].value] = place[i]
        made[node.outputs[0].value] = i
      }
      var held = [[Int]](repeating: Array(repeating: 0, count: count), count: 2)
      func hold(_ value: String, _ device: Int, _ from: Int, _ to: Int) {
        for step in from...max(from, to) { held[device][step] += sizes[value] ?? 0 }
      }
      for (value, device) in home {
        let readers = (0..<count).filter { problem.nodes[$0].inputs.contains(value) }
        let isOutput = problem.outputs.contains(value)
        let away = readers.filter { place[$0] != device }
        var last = readers.filter { place[$0] == device }.max() ?? made[value] ?? 0
        if isOutput, device == 0 { last = count - 1 }
        if let first = away.first ?? (isOutput && device == 1 ? made[value] : nil) {
          total += problem.transfers[device].latency
          last = max(last, first)
          hold(value, 1 - device, first, isOutput && device == 1 ? count - 1 : away.max() ?? first)
        }
        hold(value, device, made[value] ?? 0, last)
      }
      let excess = [0, 1].map { device in
        let kept = problem.nodes.indices.filter { place[$0] == device }.flatMap { problem.nodes[$0].weights }
          .filter { $0.devices?.contains(["a", "b"][device]) ?? true }
        return (held[device].max() ?? 0) + Set(kept).reduce(0) { $0 + $1.bytes }
          - (problem.memory[["a", "b"][device]] ?? .max)
      }
      if excess[0] > 0 { continue }
      /// Streams some of the weights of `b` from a node on.
      func stream(_ node: Int, _ excess: Int, largest: Int, _ total: Double) {
        if total >= best { return }
        if excess + PlanningProblem.ringPlaces * largest <= 0 { best = total }
        guard node < count, excess > 0 || largest > 0 else { return }
        if place[node] == 1, own[node] > 0, let seconds = problem.nodes[node].streamSeconds["b"] {
          stream(node + 1, excess - own[node], largest: max(largest, own[node]), total + seconds)
        }
        stream(node + 1, excess, largest: largest, total)
      }
      stream(0, excess[1], largest: 0, total)
    }
    return best
  }
}

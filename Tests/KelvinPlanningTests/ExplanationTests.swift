import KelvinPlanning
import TestSupport
import Testing

@Suite struct ExplanationTests {
  @Test func regretsEqualSolvingWithThePinMoved() throws {
    var compared = 0
    for seed in Tier.some(25, of: UInt64(40_000)..<40_250) {
      var made = RandomProblem(seed: seed, devices: 3)
      let count = Int.random(in: 2...9, using: &made.random)
      let text = made.json(nodes: count)
      guard let problem = try? PlanningProblem(text: text), let plan = try? problem.explain() else { continue }
      #expect(plan.hasExactRegrets)
      for (node, record) in zip(problem.nodes, plan.nodes) {
        var least: Double?
        for candidate in record.candidates where candidate.seconds != nil {
          var pins = problem.pins
          if pins[node.id] ?? candidate.device != candidate.device { continue }
          pins[node.id] = candidate.device
          let moved = (try? problem.with(pins: pins, exclude: problem.exclude).solve().predicted).map {
            $0 - plan.solution.predicted
          }
          if let moved, let regret = candidate.regret, abs(moved - regret) < 1e-9 {
            compared += 1
          } else if moved != nil || candidate.regret != nil {
            Issue.record(
              "seed \(seed) \(node.id) on \(candidate.device): \(String(describing: moved)) \(candidate): \(text)")
            return
          }
          if candidate.device != record.device, let moved { least = min(least ?? moved, moved) }
        }
        let agrees = least.map { abs($0 - (record.regret ?? -1)) < 1e-9 } ?? (record.regret == nil)
        #expect(agrees, "seed \(seed) \(node.id)")
      }
    }
    #expect(compared > Tier.trials(50, of: 1_000))
  }

  @Test func rankedPlansAreValidDistinctAndSorted() throws {
    for seed in UInt64(50_000)..<50_100 {
      var made = RandomProblem(seed: seed, devices: 3)
      guard let problem = try? PlanningProblem(text: made.json(nodes: 7)),
        let ranked = try? problem.rankedPlans(limit: 6)
      else { continue }
      #expect(ranked.count <= 6)
      #expect(Set(ranked.map(\.solution.placement)).count == ranked.count)
      for (a, b) in zip(ranked, ranked.dropFirst()) { #expect(a.solution.predicted <= b.solution.predicted + 1e-9) }
      for plan in ranked {
        let flaw = ExhaustiveSearch(problem).flaw(in: plan.solution)
        #expect(flaw == nil, "seed \(seed) \(plan.label): \(flaw ?? "")")
      }
    }
  }

  @Test func nodeReasonsAreStated() throws {
    let text = Golden.chain.replacing("\"pins\": {}", with: "\"pins\": {\"c\": \"gpu\"}")
      .replacing(
        "\"seconds\": {\"cpu\": 10, \"gpu\": 30}}\n ",
        with: "\"seconds\": {\"cpu\": 10}, \"unsupported\": {\"gpu\": \"dynamic output\"}}\n ")
    let plan = try PlanningProblem(text: text).explain()
    #expect(
      plan.nodes.map(\.reason) == [
        "cheapest here", "cheapest here", "pinned", "unsupported on gpu: dynamic output",
      ])
    #expect(
      plan.nodes[3].candidates == [
        PlanCandidate(device: "cpu", seconds: 10, source: .estimated, regret: 0),
        PlanCandidate(device: "gpu", unsupported: "dynamic output"),
      ])
    #expect(plan.nodes[1].transfers.map(\.value) == ["x"])
  }

  @Test func pinIsNoReasonWhereOneDeviceCanRunTheNode() throws {
    let text = Golden.chain.replacing("\"pins\": {}", with: "\"pins\": {\"d\": \"cpu\", \"c\": \"gpu\"}")
      .replacing(
        "\"seconds\": {\"cpu\": 10, \"gpu\": 30}}\n ",
        with: "\"seconds\": {\"cpu\": 10}, \"unsupported\": {\"gpu\": \"dynamic output\"}}\n ")
    let plan = try PlanningProblem(text: text).explain()
    #expect(plan.nodes.map(\.reason).suffix(2) == ["pinned", "unsupported on gpu: dynamic output"])
  }

  @Test func reasonStatesTheSavedSeconds() throws {
    let text = Golden.chain.replacing("\"latency\": 1}", with: "\"latency\": 100}")
    let plan = try PlanningProblem(text: text).explain()
    #expect(plan.solution.predicted == 100)
    #expect(
      plan.nodes[1].reason
        == "kept: moving costs more than it saves (gpu would save 35.0 s here and add 2 min 45 s elsewhere)"
    )
    #expect(plan.nodes[1].regret == 130)
  }

  @Test func excludedDevicesAreNamed() throws {
    let text = Golden.chain.replacing("\"pins\": {}", with: "\"exclude\": [\"gpu\"]")
    let plan = try PlanningProblem(text: text).explain()
    #expect(plan.nodes[1].reason == "gpu excluded")
    #expect(plan.solution.predicted == 100)
  }

  @Test func bestSingleDeviceMayUseTheHost() throws {
    let plan = try PlanningProblem(text: Golden.chain).explain()
    #expect(plan.singleDevices.map(\.device) == ["cpu", "gpu"])
    #expect(plan.singleDevices.map(\.predicted) == [100, 72])
    #expect(plan.bestSingleDevice?.device == "gpu")
    let helped = try PlanningProblem(text: Golden.chain.replacing("{\"cpu\": 10, \"gpu\": 30}", with: "{\"cpu\": 10}"))
      .explain()
    #expect(helped.singleDevices.last?.elsewhere == ["a", "d"])
  }
}

import KelvinBench
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinRuntime
import KelvinThermal
import TestSupport
import Testing

/// Costs and plans are stored by the precision that devices use, not by the requested one.
struct PrecisionTests {
  private let clock = VirtualClock()

  /// A CPU that computes in float32 alone, and a card that may have low precision too.
  private func context(cardHasLow: Bool) throws -> ModelContext {
    try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-3 },
        TimedDevice("gpu:0", kind: .discreteGPU, clock: clock, hasLowPrecision: cardHasLow) { _ in 1e-4 },
      ])
  }

  private func request(_ precision: Precision) -> PlanRequest {
    PlanRequest(units: .devices(["cpu", "gpu:0"]), precision: precision)
  }

  private func profile(_ context: ModelContext, _ precision: Precision) throws -> MeasuredProfile {
    var options = ProfilerOptions()
    options.budget = 0.1
    return try NodeProfiler(
      context, request(precision), inputs: chainInputs, options: options, kelvinVersion: "test", clock: clock,
      files: noFiles
    ).run().profile
  }

  /// Returns the sources of each device's costs under a precision.
  private func sources(_ context: ModelContext, _ precision: Precision) throws -> [String: Set<CostSource>] {
    var sources: [String: Set<CostSource>] = [:]
    for candidate in try context.explain(request(precision)).nodes.flatMap(\.candidates) {
      if let source = candidate.source { sources[candidate.device, default: []].insert(source) }
    }
    return sources
  }

  @Test func costsAreSharedByEqualPrecisions() throws {
    let context = try context(cardHasLow: false)
    let measured = context.with(costs: CostSheet(try profile(context, .automatic)))
    for precision in Precision.allCases {
      #expect(try sources(measured, precision) == ["cpu": [.measured], "gpu:0": [.measured]], "\(precision)")
    }
  }

  @Test func costsAreSeparateForDifferentPrecisions() throws {
    let context = try context(cardHasLow: true)
    let low = try profile(context, .low)
    let measured = context.with(costs: CostSheet(low, shipped: .none))
    #expect(try sources(measured, .low) == ["cpu": [.measured], "gpu:0": [.measured]])
    #expect(try sources(measured, .high) == ["cpu": [.measured], "gpu:0": [.estimated]])
    // The profile alone plans with both kinds of keys.
    let planner = try ProfilePlanner(CostSheet(low, shipped: .none), model: nil)
    for node in try planner.problem(PlanRequest(precision: .low)).nodes {
      #expect(node.source == ["cpu": .measured, "gpu:0": .measured])
    }
    // The same holds for the model on the machine that the profile describes.
    let there = ModelContext(
      name: context.name, key: context.key, function: context.function, graph: context.graph,
      inventory: planner.inventory, cache: nil, costs: planner.costs)
    #expect(try sources(there, .low) == ["cpu": [.measured], "gpu:0": [.measured]])
  }

  @Test func planStatesWhenLowPrecisionEqualsFull() throws {
    let card = PlanRequest(units: .devices(["gpu:0"]), precision: .low)
    for (hasLow, expected) in [
      (true, []),
      (
        false,
        ["precision low is the same as full: no operation of this model has a less exact kernel or storage on gpu:0"]
      ),
    ] {
      let context = try context(cardHasLow: hasLow)
      #expect(try context.remarks(on: try context.explain(card), card) == expected)
    }
  }

  @Test func planIsReusedUnderEqualPrecisions() throws {
    let same = try context(cardHasLow: false)
    let plan = try same.plan(try same.explain(request(.automatic)), request(.automatic))
    for precision in Precision.allCases {
      #expect(try same.explain(adopting: plan, request(precision)).solution.placement == plan.placement)
    }
    let other = try context(cardHasLow: true)
    let onCard = PlanRequest(units: .devices(["gpu:0"]), precision: .full)
    let card = try other.plan(try other.explain(onCard), onCard)
    #expect(Set(card.placement.values) == ["gpu:0"])
    #expect(throws: Never.self) { try other.explain(adopting: card, request(.high)) }
    let refusal = #expect(throws: RuntimeError.self) { try other.explain(adopting: card, request(.low)) }
    #expect(refusal?.description.contains("precision full, not low, and gpu:0 computes 'layer 0'") == true)
    // On the CPU, which has one implementation, these precisions give the same plan.
    let onCPU = PlanRequest(units: .cpuOnly, precision: .full)
    let cpu = try other.plan(try other.explain(onCPU), onCPU)
    #expect(throws: Never.self) { try other.explain(adopting: cpu, request(.low)) }
  }

  @Test func benchmarkReportsEqualConfigurationsAsOnePlan() throws {
    for (hasLow, expected) in [(false, 1), (true, 0)] {
      let subject = BenchmarkSubject(
        context: try context(cardHasLow: hasLow), format: "test", inputs: [chainInputs], hasMadeUpInputs: true,
        classes: 0, loadSeconds: 0)
      let configurations = [Precision.full, .low].map {
        BenchmarkConfiguration(label: $0.rawValue, request: PlanRequest(units: .devices(["gpu:0"]), precision: $0))
      }
      let result = try BenchmarkRunner(
        subject, Workload(name: "test", kind: .oneShot, iterations: 8, warmSeconds: 0), configurations,
        kelvinVersion: "test", envelope: .server, clock: clock, files: noFiles
      ).run()
      #expect(result.notes.count { $0.contains("low and full run the same plan") } == expected, "\(result.notes)")
    }
  }
}

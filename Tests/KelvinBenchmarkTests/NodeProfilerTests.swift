import FoundationEssentials
import KelvinBenchmark
import KelvinDevices
import KelvinGraph
import KelvinPlanning
import KelvinProfiling
import KelvinRuntime
import Testing

struct NodeProfilerTests {
  private let clock = VirtualClock()

  /// The CPU takes 1, 2, 3 ms for the three layers; the GPU a tenth, 0.5 ms for each submission, and refuses the last.
  private func context() throws -> ModelContext {
    let index: @Sendable (Node) -> Double = { Double($0.name.last?.wholeNumberValue ?? 0) + 1 }
    return try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { index($0) * 1e-3 },
        TimedDevice("gpu:0", kind: .integratedGPU, clock: clock, overhead: 5e-4, refuses: { $0.name == "layer 2" }) {
          index($0) * 1e-4
        },
      ])
  }

  private func profile(_ context: ModelContext, budget: Double = 1) throws -> ProfileResult {
    var options = ProfilerOptions()
    options.budget = budget
    let profiler = NodeProfiler(
      context, PlanRequest(units: .devices(["gpu:0"])), inputs: chainInputs, options: options, kelvinVersion: "test",
      clock: clock, files: noFiles)
    return try profiler.run()
  }

  @Test func everyNodeHasTheCostItsDeviceReports() throws {
    let context = try context()
    let result = try profile(context)
    // The host is measured although only the GPU was named.
    #expect(result.devices.map(\.device.id) == ["cpu", "gpu:0"])
    for (index, row) in result.nodes.enumerated() {
      #expect(abs((row.costs["cpu"]?.seconds ?? 0) - Double(index + 1) * 1e-3) < 1e-12)
    }
    #expect(abs((result.nodes[1].costs["gpu:0"]?.seconds ?? 0) - 2e-4) < 1e-12)
    #expect(result.nodes[2].costs["gpu:0"] == nil)
    #expect(result.nodes[2].unsupported["gpu:0"] == "it refuses layer 2")
    #expect(result.devices[1].nodesElsewhere == 1)
  }

  @Test func planningReadsTheProfile() throws {
    let context = try context()
    let result = try profile(context)
    let planned = context.with(costs: CostSheet(result.profile))
    let explanation = try planned.explain(PlanRequest(units: .devices(["cpu", "gpu:0"])))
    for node in explanation.nodes {
      for candidate in node.candidates where candidate.seconds != nil { #expect(candidate.source == .measured) }
    }
    // 0.1 + 0.2 ms and a submission of 0.5 ms on the GPU beat 1 + 2 ms on the CPU; the last layer has no choice.
    #expect(explanation.solution.placement == ["layer 0": "gpu:0", "layer 1": "gpu:0", "layer 2": "cpu"])
    #expect(abs(explanation.solution.predicted - (3e-4 + 5e-4 + 3e-3)) < 1e-4)
  }

  @Test func theSubmissionIsChargedToTheCrossings() throws {
    let result = try profile(try context())
    let there = try #require(result.profile.transfer(from: "cpu", to: "gpu:0"))
    let back = try #require(result.profile.transfer(from: "gpu:0", to: "cpu"))
    #expect(abs(there.latency + back.latency - 5e-4) < 1e-5)
    #expect(result.transfers.allSatisfy { $0.isShared })
  }

  @Test func everyDevicesAccountCloses() throws {
    for run in try profile(try context()).devices {
      let account = run.account
      #expect(abs(account.layers + account.transfers + account.waits + account.residual - account.endToEnd) < 1e-9)
      #expect(abs(account.endToEnd - run.latency.p50) < 1e-9)
    }
  }

  @Test func measuringEndsWithTheBudgetOrWithCertainty() throws {
    let certain = try profile(try context(), budget: 1000)
    #expect(certain.devices.allSatisfy { $0.latency.count < 50 })
    let short = try profile(try context(), budget: 1e-6)
    #expect(short.devices.allSatisfy { $0.latency.count == ProfilerOptions().fewestRounds })
  }

  @Test func theDocumentsAreReadable() throws {
    let result = try profile(try context())
    let copy = try MeasuredProfile(json: try result.profile.json(), document: "copy")
    #expect(copy == result.profile)
    let json = String(decoding: try result.json(), as: UTF8.self)
    for key in [
      "\"account\"", "\"residual\"", "\"unsupported\" : \"it refuses layer 2\"", "\"transfers\"",
      "\"nodesElsewhere\" : 1",
    ] {
      #expect(json.contains(key), "\(key)")
    }
    let text = result.lines().joined(separator: "\n")
    #expect(text.contains("layer 1") && text.contains("cpu → gpu:0") && text.contains("residual"))
    #expect(result.trace.events.contains { $0.kind == .transfer && $0.details["from"] == "cpu" })
    // The card's nodes end long after the host began to fetch their result.
    #expect(result.trace.events.contains { $0.kind == .wait && $0.name == "waiting for gpu:0" })
  }

  @Test func aDeviceThatRunsNothingIsLeftOutAndSaidSo() throws {
    let context = try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-3 },
        TimedDevice("gpu:0", kind: .integratedGPU, clock: clock, refuses: { _ in true }) { _ in 1e-4 },
      ])
    let result = try profile(context)
    #expect(result.devices.map(\.device.id) == ["cpu"])
    #expect(result.remarks.contains { $0.contains("gpu:0 runs none") })
  }
}

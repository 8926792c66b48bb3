import FoundationEssentials
import KelvinBench
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinReport
import KelvinRuntime
import KelvinThermal
import TestSupport
import Testing

struct BenchmarkRunnerTests {
  private let clock = VirtualClock()

  private func context(cpu: Double, gpu: Double) throws -> ModelContext {
    try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in cpu },
        TimedDevice("gpu:0", kind: .discreteGPU, clock: clock) { _ in gpu },
      ])
  }

  private func bench(
    _ context: ModelContext, _ workload: Workload, units: [String], options: BenchmarkOptions = BenchmarkOptions()
  ) throws -> BenchmarkResult {
    let subject = BenchmarkSubject(
      context: context, format: "test", inputs: [chainInputs], hasMadeUpInputs: true, classes: 0, loadSeconds: 0.002)
    let configurations = units.map {
      BenchmarkConfiguration(label: $0, request: PlanRequest(units: UnitsSelection($0) ?? .all))
    }
    return try BenchmarkRunner(
      subject, workload, configurations, options: options, kelvinVersion: "test", envelope: .server, clock: clock,
      files: noFiles
    ).run()
  }

  /// A device whose inferences take 3 s is measured in the fewest rounds of a comparison, with two inferences each.
  @Test func phaseLimitEndsTheRoundsOfASlowDevice() throws {
    var options = BenchmarkOptions()
    options.phaseLimit = 15
    options.checksAgreement = false
    let result = try bench(try context(cpu: 1, gpu: 1), oneShot, units: ["cpu"], options: options)
    #expect(result.configurations[0].warm?.count == 2 * PairedComparison.fewestPairs)
    #expect(
      result.notes.contains { $0.hasPrefix("warm inferences: 6 of 12 rounds, because they took 36") }, "\(result.notes)"
    )
    let quick = try bench(try context(cpu: 1e-3, gpu: 1), oneShot, units: ["cpu"], options: options)
    #expect(quick.configurations[0].warm?.count == 24)
  }

  private let oneShot = Workload(name: "test", kind: .oneShot, iterations: 24, rounds: 12, warmSeconds: 0)

  @Test func oneShotNamesTheFasterDeviceAndSavesItsPlan() throws {
    let result = try bench(try context(cpu: 1e-3, gpu: 4e-3), oneShot, units: ["cpu", "gpu:0"])
    #expect(result.verdict.winner == 0)
    #expect(result.verdict.text.contains("pick cpu"))
    #expect(result.comparisons[1].contains("slower than cpu"))
    #expect(Set(result.bestPlan.placement.values) == ["cpu"])
    let cpu = result.configurations[0]
    #expect(abs((cpu.warm?.p50 ?? 0) - 3e-3) < 1e-9)
    #expect(cpu.warm?.count == 24)
    #expect(abs((cpu.load ?? 0) - 2e-3) < 1e-12)
    #expect(cpu.starts.count == oneShot.starts)
    #expect(cpu.coldStarts.count == oneShot.coldStarts)
    #expect(abs((cpu.coldTotal ?? 0) - 6e-3) < 1e-9)
  }

  @Test func equalDevicesHaveNoWinner() throws {
    let result = try bench(try context(cpu: 1e-3, gpu: 1e-3), oneShot, units: ["cpu", "gpu:0"])
    #expect(result.verdict.winner == nil)
    #expect(result.verdict.text.contains("no difference measured"))
    #expect(!result.report().configurations.contains { $0.isRecommended })
  }

  @Test func nodesOutsideTheUnitsAreReported() throws {
    let context = try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-3 },
        TimedDevice("gpu:0", kind: .discreteGPU, clock: clock, refuses: { $0.name == "layer 2" }) { _ in 1e-3 },
      ])
    let notes = try bench(context, oneShot, units: ["cpu", "gpu:0"]).notes
    let elsewhere = "gpu:0: 1 of 3 nodes runs on cpu, not on gpu:0: 1 \(Unary.name) (it refuses layer 2)"
    #expect(notes.count { $0.hasPrefix(elsewhere) } == 1, "\(notes)")
    #expect(notes.count { $0.contains("not on") } == 1)
  }

  @Test func outputsAreComparedWithTheReference() throws {
    let result = try bench(try context(cpu: 1e-3, gpu: 1e-3), oneShot, units: ["cpu"])
    let agreement = try #require(result.configurations[0].agreement)
    #expect(agreement.largestDifference == 0)
    #expect(agreement.top1 == 1)
    #expect(agreement.inputs == 1)
  }

  @Test func agreementCountsTheDifferences() {
    let reference = [[Tensor([0.1, 0.9], [2])], [Tensor([0.8, 0.2], [2])]]
    let ours = [[Tensor([0.1, 0.8], [2])], [Tensor([0.4, 0.6], [2])]]
    let agreement = Agreement.compare(ours, to: reference, classes: 0)
    #expect(agreement.top1 == 0.5)
    #expect(abs(agreement.largestDifference - 0.4) < 1e-6)
    #expect(abs(agreement.meanDifference - 0.9 / 4) < 1e-6)
  }

  @Test func streamCountsDroppedFrames() throws {
    let workload = Workload(
      name: "test", kind: .stream, iterations: 12, warmSeconds: 0, framesPerSecond: 20, duration: 6)
    let result = try bench(try context(cpu: 5e-3, gpu: 40e-3), workload, units: ["cpu", "gpu:0"])
    let (cpu, gpu) = (
      try #require(result.configurations[0].sustained), try #require(result.configurations[1].sustained)
    )
    #expect(cpu.dropped == 0)
    #expect(cpu.served == 120)
    #expect(gpu.served + gpu.dropped == 120)
    #expect(gpu.dropped > 40)
    #expect(result.verdict.winner == 0)
    #expect(result.verdict.sentences.count == 2)
    #expect(result.verdict.sentences.last?.contains("keeps up") == true)
    #expect(abs((cpu.drift ?? 0) - 1) < 0.05)
    // Nothing measures the power of a foreign card, and a note says so.
    #expect(gpu.joulesPerInference == nil && gpu.energySource.contains("gpu:0"))
    #expect(result.report().series.count == 2)
  }

  @Test func documentHasItsKeys() throws {
    let workload = Workload(name: "test", kind: .throughput, iterations: 12, warmSeconds: 0, duration: 1, inFlight: 1)
    let result = try bench(try context(cpu: 1e-3, gpu: 4e-3), workload, units: ["cpu", "gpu:0"])
    let json = try result.json()
    struct Document: Decodable {
      struct Model: Decodable { var name: String }
      struct Thermal: Decodable { var source: String }
      struct Row: Decodable {
        var units: String
        var load, compile, first, p50, p90, p99, throughput: Double
        var drift: Double?
        var dropped: Int
        var thermal: Thermal
      }
      var machine: MachineDescription
      var model: Model
      var workload: Workload
      var configurations: [Row]
      var verdict: String
      var winner: String?
    }
    let document = try JSONDecoder().decode(Document.self, from: json)
    #expect(document.configurations.map(\.units) == ["cpu", "gpu:0"])
    #expect(document.workload == workload)
    #expect(document.winner == "cpu")
    #expect(abs(document.configurations[0].throughput - 1000 / 3) < 1)
    #expect(document.verdict == result.verdict.text)
    let text = result.lines.joined(separator: "\n")
    #expect(text.contains("Throughput") && text.contains("* cpu") && text.contains("largest Δ"))
    #expect(HTMLReport.render(result.report()).contains("pick cpu"))
  }

  /// Both devices take a millisecond for each of three nodes, so each answers every second frame alone.
  @Test func inferencesInFlightAlternateBetweenThePlansOfAMixture() throws {
    let context = try context(cpu: 1e-3, gpu: 1e-3)
    var profile = MeasuredProfile(
      kelvinVersion: "test", machine: MachineDescription(SystemFiles()),
      devices: context.inventory.devices.map(\.info.identity))
    for node in context.graph.nodes {
      let key = CostSheet.key(node, in: context.graph, computedIn: .full, threads: 1)
      let cost = NodeCost(
        seconds: 1e-3, interval: .init(lower: 1e-3, upper: 1e-3, confidence: 1), samples: 9, source: .hostClock)
      profile.nodes[key] = ["cpu": cost, "gpu:0": cost]
      profile.work[key] = CostSheet.work(node, in: context.graph)
    }
    profile.transfers = [("cpu", "gpu:0"), ("gpu:0", "cpu")].map {
      TransferCost(from: $0, to: $1, latency: 1e-6, bytesPerSecond: 1e9, samples: 9)
    }
    let workload = Workload(name: "test", kind: .throughput, iterations: 12, warmSeconds: 0, duration: 1, inFlight: 2)
    let result = try bench(context.with(costs: CostSheet(profile, shipped: .none)), workload, units: ["cpu,gpu:0"])
    let configuration = result.configurations[0]
    let shares = try #require(configuration.sustained?.pipeline?.shares)
    #expect(shares.count == 2 && shares.allSatisfy { abs($0 - 0.5) < 0.01 }, "\(shares)")
    #expect(configuration.devices.sorted() == ["cpu", "gpu:0"])
    #expect(result.lines.joined(separator: " ").contains("2 plans share the frames"))
  }

  @Test func mixedPlanIsRunBeforeItIsAdopted() throws {
    // By estimate the card is by far the best place; running shows that it is not.
    let result = try bench(try context(cpu: 1e-4, gpu: 5e-3), oneShot, units: ["cpu,gpu:0"])
    let configuration = result.configurations[0]
    let trial = try #require(configuration.trial)
    #expect(trial.entries.count >= 2)
    #expect(Set(configuration.plan.placement.values) == ["cpu"])
    let fastestSingle = trial.entries.filter(\.isSingleDevice).map(\.seconds).min() ?? 0
    #expect(trial.entries[trial.chosen].seconds <= fastestSingle)
  }

  @Test func emptyConfigurationsAndInvalidWorkloadsAreRefused() throws {
    let context = try context(cpu: 1e-3, gpu: 1e-3)
    #expect(throws: BenchmarkError.self) { try bench(context, oneShot, units: []) }
    var never = oneShot
    never.iterations = 0
    #expect(throws: BenchmarkError.self) { try bench(context, never, units: ["cpu"]) }
  }
}

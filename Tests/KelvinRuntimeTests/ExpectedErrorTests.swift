import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
import TestSupport
import Testing

/// How far predicted times may be off.
@Suite struct ExpectedErrorTests {
  private let request = PlanRequest(units: .devices(["cpu", "gpu:0"]))

  /// The GPU takes a tenth of the CPU's time, and may refuse the last of three layers.
  private func context(refuses: Bool = true) throws -> ModelContext {
    let clock = VirtualClock()
    return try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-3 },
        TimedDevice("gpu:0", kind: .integratedGPU, clock: clock, refuses: { refuses && $0.name == "layer 2" }) { _ in
          1e-4
        },
      ])
  }

  private func profile(_ context: ModelContext, withLinks: Bool = true, refuses: Bool = true) -> MeasuredProfile {
    var profile = MeasuredProfile(
      kelvinVersion: "test", machine: MachineDescription(SystemFiles()),
      devices: context.inventory.devices.map(\.info.identity))
    for node in context.graph.nodes {
      for (device, seconds) in [("cpu", 1e-3), ("gpu:0", 1e-4)]
      where device == "cpu" || !refuses || node.name != "layer 2" {
        let key = CostSheet.key(node, in: context.graph, computedIn: .full, threads: request.threads)
        profile.nodes[key, default: [:]][device] = NodeCost(
          seconds: seconds, interval: .init(lower: seconds, upper: seconds, confidence: 1), samples: 9,
          source: .hostClock)
        profile.work[key] = CostSheet.work(node, in: context.graph)
      }
    }
    guard withLinks else { return profile }
    for (from, to) in [("cpu", "gpu:0"), ("gpu:0", "cpu")] {
      profile.transfers.append(TransferCost(from: from, to: to, latency: 1e-5, bytesPerSecond: 1e9, samples: 9))
    }
    return profile
  }

  private func accuracy(_ largest: Double, plans: Int) -> PredictionAccuracy {
    PredictionAccuracy(median: largest / 2, largest: largest, bias: 0, plans: plans)
  }

  /// The error to expect of the best plan, and of the CPU alone.
  private func errors(_ context: ModelContext, _ profile: MeasuredProfile?, pace: Double? = nil) throws -> (
    best: ExpectedError, cpu: ExpectedError
  ) {
    let costs = CostSheet(profile, shipped: .none)
    let explanation = try context.with(costs: costs).planner.problem(context.graph, request).explain()
    func expectedError(_ solution: PlanSolution) -> ExpectedError {
      costs.expectedError(
        of: solution, in: explanation, devices: context.inventory.devices.map(\.info), model: context.key.description,
        threads: request.threads, pace: pace)
    }
    let single = try #require(explanation.singleDevices.first { $0.device == "cpu" })
    return (expectedError(explanation.solution), expectedError(single.solution))
  }

  @Test func measuredPlanHasTheLargestErrorOfItsKindOfPlan() throws {
    let context = try context()
    var profile = profile(context)
    profile.accuracy[context.key.description] = ModelAccuracy(
      single: accuracy(0.03, plans: 2), mixed: accuracy(0.2, plans: 7))
    let errors = try errors(context, profile)
    #expect(errors.cpu.mark == "± 8.5 %")
    #expect(
      errors.cpu.basis
        == "the largest error of 2 plans of one device, predicted and run by 'kelvin profile', and 8.0 % from run to run"
    )
  }

  @Test func unprofiledModelHasTheMedianErrorOfOthers() throws {
    let context = try context()
    var profile = profile(context)
    for (index, largest) in [0.5, 0.04, 0.06].enumerated() {
      profile.accuracy["other \(index)"] = ModelAccuracy(single: accuracy(largest, plans: 2))
    }
    let errors = try errors(context, profile)
    #expect(errors.cpu.mark == "± 10.0 %" && errors.cpu.basis.contains(", the median of 3 other models, "))
  }

  @Test func predictionThatWasNeverComparedHasNoKnownError() throws {
    let context = try context()
    let errors = try errors(context, profile(context))
    #expect(errors.cpu.share == nil && errors.cpu.mark == "± unknown")
    #expect(errors.cpu.basis == "no prediction from these measurements was compared with a run")
  }

  @Test func guessesMakeTheErrorUnknown() throws {
    let context = try context()
    let guessed = try errors(context, nil)
    #expect(guessed.cpu.share == nil && guessed.cpu.basis == "the error of estimates for cpu is unknown")
    // Measured layers, but a guessed copy.
    var profile = profile(context, withLinks: false)
    profile.accuracy[context.key.description] = ModelAccuracy(
      single: accuracy(0.03, plans: 2), mixed: accuracy(0.2, plans: 7))
    let unlinked = try errors(context, profile)
    #expect(unlinked.best.share == nil && unlinked.best.basis.hasPrefix("the cost of copies from "))
    #expect(unlinked.cpu.mark == "± 8.5 %")
  }

  @Test func errorIsWiderWhileTheProcessorsAreSlowerOrFasterThanInTheProfile() throws {
    let context = try context()
    var profile = profile(context)
    profile.accuracy[context.key.description] = ModelAccuracy(single: accuracy(0.06, plans: 2))
    profile.pace = [request.threads: 1e9]
    func share(_ pace: Double?) throws -> Double { try #require(try errors(context, profile, pace: pace).cpu.share) }
    // hypot(0.06, 0.08) = 0.1, on either side of a run that takes as long, twice as long, or half as long.
    #expect(abs(try share(nil) - 0.1) < 1e-9)
    #expect(abs(try share(0.95e9) - 0.1) < 1e-9)
    #expect(abs(try share(0.5e9) - 1.2) < 1e-9)
    #expect(abs(try share(2e9) - 0.55) < 1e-9)
    let basis = try errors(context, profile, pace: 0.5e9).cpu.basis
    #expect(basis.hasSuffix("; the processors advance at 0.500 × the pace of the profile now"))
    profile.pace = [request.threads + 1: 1e9]
    #expect(abs(try share(0.5e9) - 0.1) < 1e-9, "another number of threads says nothing")
  }

  @Test func paceOfTheProcessorsDoesNotWidenWhatAGraphicsCardComputes() throws {
    let context = try context(refuses: false)
    var profile = profile(context, refuses: false)
    profile.accuracy[context.key.description] = ModelAccuracy(single: accuracy(0.06, plans: 2))
    profile.pace = [request.threads: 1e9]
    let errors = try errors(context, profile, pace: 0.5e9)
    #expect(
      errors.best.mark == "± 10.0 %" && abs((errors.cpu.share ?? 0) - 1.2) < 1e-9, "the card is ten times as fast")
  }
}

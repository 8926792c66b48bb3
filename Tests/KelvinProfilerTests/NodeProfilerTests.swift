import FoundationEssentials
import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinProfiler
import KelvinReference
import KelvinRuntime
import Synchronization
import TestSupport
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

  private func profile(_ context: ModelContext, on device: String = "gpu:0", budget: Double = 1) throws -> ProfileResult
  {
    var options = ProfilerOptions()
    options.budget = budget
    let profiler = NodeProfiler(
      context, PlanRequest(units: .devices([device])), inputs: chainInputs, options: options, kelvinVersion: "test",
      clock: clock, files: noFiles)
    return try profiler.run()
  }

  @Test func nodeCostsAreTheReportedTimes() throws {
    let context = try context()
    let result = try profile(context)
    // The host is measured although only the GPU was named.
    #expect(result.devices.map(\.device.id) == ["cpu", "gpu:0"])
    for (index, row) in result.nodes.enumerated() {
      #expect(abs((row.costs["cpu"]?.seconds ?? 0) - Double(index + 1) * 1e-3) < 1e-9)
    }
    #expect(abs((result.nodes[1].costs["gpu:0"]?.seconds ?? 0) - 2e-4) < 1e-9)
    #expect(result.nodes[2].costs["gpu:0"] == nil)
    #expect(result.nodes[2].unsupported["gpu:0"] == "it refuses layer 2")
    #expect(result.devices[1].nodesElsewhere == 1)
    #expect((result.profile.pace[PlanRequest().threads] ?? 0) > 0)
    let elsewhere = "1 of 3 nodes runs on cpu, not on gpu:0: 1 \(Unary.name) (it refuses layer 2)"
    #expect(result.remarks.count { $0.hasPrefix(elsewhere) } == 1, "\(result.remarks)")
  }

  @Test func planningUsesTheProfile() throws {
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

  @Test func submissionTimeIsChargedToTheTransfers() throws {
    let result = try profile(try context())
    let there = try #require(result.profile.transfer(from: "cpu", to: "gpu:0"))
    let back = try #require(result.profile.transfer(from: "gpu:0", to: "cpu"))
    #expect(abs(there.latency + back.latency - 5e-4) < 1e-5)
    // Values of sixteen bytes do not determine the cost per byte.
    #expect(there.bytesPerSecond == TransferFit.unlimited && back.bytesPerSecond == TransferFit.unlimited)
    #expect(result.transfers.allSatisfy { $0.isShared })
  }

  @Test("delays in a layer count as its time and not as submission time")
  func heldUp() throws {
    let count = Atomic(0)
    let context = try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { node in
          // In each inference one of the three layers takes twice as long.
          let index = node.name.last?.wholeNumberValue ?? 0
          if index == 0 { count.add(1, ordering: .relaxed) }
          return count.load(ordering: .relaxed) % 3 == index ? 2e-3 : 1e-3
        }
      ])
    let result = try profile(context, on: "cpu")
    #expect(result.dispatch["cpu"] ?? 0 < 1e-6, "\(result.dispatch)")
    let sum = result.nodes.reduce(0) { $0 + ($1.costs["cpu"]?.seconds ?? 0) }
    #expect(abs(sum - 4e-3) < 1e-6, "\(sum)")
  }

  @Test func everyDeviceAccountAddsUp() throws {
    for run in try profile(try context()).devices {
      let account = run.account
      #expect(abs(account.layers + account.transfers + account.waits + account.residual - account.endToEnd) < 1e-9)
      #expect(abs(account.endToEnd - run.timedLatency.p50) < 1e-9)
    }
  }

  @Test func measuringEndsByBudgetOrPrecision() throws {
    let certain = try profile(try context(), budget: 1000)
    #expect(certain.devices.allSatisfy { $0.latency.count < 50 })
    // As many rounds again run beside plans that alternate, and those of a trial beside the best plan.
    let short = try profile(try context(), budget: 1e-6)
    #expect(
      short.devices.allSatisfy {
        $0.latency.count == 2 * ProfilerOptions().fewestRounds + PairedComparison.fewestPairs + 2
      })
  }

  @Test func timeLeftIsRightWithinAThird() throws {
    // No two inferences take the same time, so that no median becomes certain and every budget is used.
    let count = Atomic(0)
    let context = try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in
          1e-3 * Double(1 + count.add(1, ordering: .relaxed).newValue * 7919 % 97)
        }
      ])
    var options = ProfilerOptions()
    options.budget = 20
    options.measuresBusyStarts = false
    var announced: [(at: Double, left: Double?, fraction: Double)] = []
    let began = clock.now()
    _ = try NodeProfiler(
      context, PlanRequest(units: .devices(["cpu"])), inputs: chainInputs, options: options, kelvinVersion: "test",
      clock: clock, files: noFiles
    ).run { [clock] in announced.append((clock.now() - began, $0.secondsLeft, $0.fraction)) }
    let end = clock.now() - began
    for share in [0.25, 0.5, 0.75] {
      let said = try #require(announced.last { $0.at <= share * end })
      let left = try #require(said.left, "nothing was said at \(said.at) s")
      #expect(abs(left - (end - said.at)) <= (end - said.at) / 3, "at \(said.at) of \(end) s: \(left) s")
    }
    #expect(zip(announced, announced.dropFirst()).allSatisfy { $0.fraction <= $1.fraction })
    #expect(announced.last?.fraction == 1)
  }

  @Test func documentsAreReadBack() throws {
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

  @Test func deviceWithoutSupportIsExcludedAndReported() throws {
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

  @Test func predictionsAreComparedWithUntimedRuns() throws {
    let result = try profile(try context())
    // The best plan is what the GPU does alone, with the one layer that it refuses on the host.
    #expect(result.checks.map(\.label) == ["cpu", "gpu:0"])
    for check in result.checks {
      #expect(abs(check.error) < 0.01, "\(check)")
      #expect(check.isUndisturbed && check.samples >= 5)
    }
    // 1 + 2 + 3 ms; half a millisecond for the submission, 0.1 and 0.2 ms there, and 3 ms on the CPU.
    #expect(abs(result.checks[0].measured - 6e-3) < 1e-9)
    #expect(abs(result.checks[1].measured - 3.8e-3) < 1e-9)
    #expect(result.checks[1].nodesByDevice == ["gpu:0": 2, "cpu": 1])
  }

  /// The CPU is ten times as fast at every other layer, the GPU at the others; each submission costs 0.2 ms.
  private func alternating() throws -> ModelContext {
    let isOdd: @Sendable (Node) -> Bool = { ($0.name.last?.wholeNumberValue ?? 0) % 2 == 1 }
    return try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { isOdd($0) ? 5e-3 : 5e-4 },
        TimedDevice("gpu:0", kind: .integratedGPU, clock: clock, overhead: 2e-4) { isOdd($0) ? 5e-4 : 5e-3 },
      ])
  }

  @Test func bestMixedPlanIsMeasuredAndAdopted() throws {
    let context = try alternating()
    let result = try profile(context)
    #expect(result.checks.map(\.label) == ["cpu", "gpu:0", "best plan"])
    for check in result.checks { #expect(abs(check.error) < 0.01, "\(check)") }
    // Half a millisecond for each of three layers, and one submission.
    #expect(abs(result.checks[2].measured - 1.7e-3) < 1e-9)
    let trial = try #require(result.profile.trials.first)
    #expect(trial.entries[trial.chosen].label == "best" && trial.entries.count == 3)
    let mixed = try #require(result.accuracy.mixed)
    #expect(mixed.plans > 3 && mixed.largest < 0.01 && abs(mixed.bias) < 0.01)
    #expect(try #require(result.accuracy.single).largest < 0.01)
    let planned = context.with(costs: CostSheet(result.profile))
    let request = PlanRequest(units: .devices(["cpu", "gpu:0"]))
    let explanation = try planned.explain(request)
    #expect(explanation.proven(by: planned.trial(request), goal: .latency).remark == nil)
    // Without the trial one device runs it all.
    let (proven, remark) = explanation.proven(by: nil, goal: .latency)
    #expect(Set(proven.solution.placement.values).count == 1)
    #expect(remark?.contains("was not tried here") == true)
  }

  /// Random graphs with branches, on devices that are faster at some layers than at others and dear to start.
  @Test(arguments: 0..<6)
  func mixedPlansArePredictedWithinTheBound(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let (graph, inputs) = try RandomGraph.make(seed: UInt64(seed), nodes: 14)
    let overhead = 4e-4 * random.unit()
    let salt = random.index(below: 1000)
    // Layers that are alike cost the same: a profile has one cost for them.
    let cost: @Sendable (Node, Int) -> Double = { node, device in
      let digits = "\(node.op)".utf8.reduce(salt + 7 * device) { ($0 * 31 + Int($1)) % 1009 }
      return 2e-4 + 2e-6 * Double(digits)
    }
    let devices: [any Device] = [
      TimedDevice("cpu", kind: .cpu, clock: clock) { cost($0, 1) },
      TimedDevice("gpu:0", kind: .integratedGPU, clock: clock, overhead: overhead) { cost($0, 2) },
    ]
    let context = ModelContext(
      name: "random.onnx", key: ContentKey(["random"]), function: "main", graph: graph,
      inventory: DeviceInventory((devices + [ReferenceDevice()]).map { DeviceListing($0) }), cache: nil,
      costs: CostSheet())
    var options = ProfilerOptions()
    options.budget = 1
    let result = try NodeProfiler(
      context, PlanRequest(units: .devices(["gpu:0"])), inputs: inputs, options: options, kelvinVersion: "test",
      clock: clock, files: noFiles
    ).run()
    let mixed = try #require(result.accuracy.mixed)
    // A submission is paid once for a segment, and told as so much for each value: that is what the bound is for.
    #expect(mixed.median <= 0.10 && abs(mixed.bias) <= 0.05, "seed \(seed): \(mixed)")
    #expect(try #require(result.accuracy.single).largest <= 0.05, "seed \(seed): \(result.checks)")
    let planned = context.with(costs: CostSheet(result.profile))
    for _ in 0..<20 {
      var request = PlanRequest(units: .devices(["cpu", "gpu:0"]))
      for node in graph.nodes { request.pins[node.name] = random.index(below: 2) == 0 ? "cpu" : "gpu:0" }
      let solution = try planned.planner.problem(graph, request).solve()
      let session = try planned.compile(solution, precision: .automatic, threads: 1).makeSession()
      let start = clock.now()
      _ = try session.run(inputs)
      let measured = clock.now() - start
      let error = abs(solution.predicted / measured - 1)
      #expect(error <= 1.5 * mixed.largest + 0.02, "seed \(seed): \(error) where \(mixed.largest) was printed")
    }
  }

  @Test func profilePlansWithoutTheModel() throws {
    let context = try context()
    let result = try profile(context)
    let planner = try ProfilePlanner(CostSheet(result.profile), model: "chain.onnx")
    let request = PlanRequest(units: .devices(["cpu", "gpu:0"]))
    let alone = try planner.problem(request).solve()
    let here = try context.with(costs: CostSheet(result.profile)).explain(request).solution
    #expect(alone.placement == here.placement)
    #expect(abs(alone.predicted - here.predicted) < 1e-12)
    let problem = try planner.problem(request)
    #expect(problem.nodes[2].unsupported["gpu:0"] == "it refuses layer 2")
    #expect(problem.nodes[0].joules["cpu"] ?? 0 > 0)
  }

  @Test func startCostsAreMeasuredByDeviceAndNode() throws {
    let result = try profile(try context())
    for run in result.devices {
      #expect(run.compile > 0 && run.compileCached > 0 && run.firstRun > 0)
      #expect(run.busyCompile ?? 0 > 0 && run.busyFirstRun ?? 0 > 0)
      #expect(run.power.busyWatts >= run.power.idleWatts && !run.power.source.isEmpty)
    }
    let cost = try #require(result.nodes[1].costs["gpu:0"])
    #expect(abs((cost.cold ?? 0) - 2e-4) < 1e-9)
    #expect(cost.compile ?? 0 > 0)
    let summed = result.nodes.compactMap { $0.costs["cpu"]?.compile }.reduce(0, +)
    #expect(summed <= result.devices[0].compile + 1e-12)
  }

  @Test func devicesOnOneClockDoNotOverlap() throws {
    let result = try profile(try context())
    let pair = try #require(result.profile.corun.first)
    #expect(Set([pair.a, pair.b]) == ["cpu", "gpu:0"])
    // Both advance one clock: the two together take as long as one after the other.
    #expect(abs(pair.factor - 1) < 1e-6 && !pair.overlaps)
  }

  @Test(arguments: [false, true]) func unsteadyPairIsMeasuredMoreOften(isUnsteady: Bool) throws {
    let random = Mutex(SeededGenerator(seed: 1))
    let gpu = TimedDevice("gpu:0", kind: .integratedGPU, clock: clock) { _ in
      isUnsteady && random.withLock { Int.random(in: 0..<10, using: &$0) } == 0 ? 2e-3 : 1e-4
    }
    let context = try chain(clock, devices: [TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-3 }, gpu])
    let pair = try #require(try profile(context).profile.corun.first)
    #expect(pair.samples > 9 ? isUnsteady : !isUnsteady, "\(pair)")
  }

  @Test func lostDeviceDoesNotStopTheOthers() throws {
    let remaining = Mutex(9)
    let gpu = TimedDevice(
      "gpu:0", kind: .integratedGPU, clock: clock,
      fails: {
        remaining.withLock { count in
          count -= 1
          return count < 0
        }
      }
    ) { _ in 1e-4 }
    let context = try chain(clock, devices: [TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-3 }, gpu])
    let result = try profile(context)
    #expect(result.profile.isPartial)
    #expect(result.remarks.contains { $0.contains("gpu:0 was lost") }, "\(result.remarks)")
    #expect(result.nodes.allSatisfy { $0.costs["cpu"] != nil })
    #expect(result.checks.contains { $0.label == "cpu" })
    #expect(result.profile.transfers.isEmpty)
  }

  @Test func immediatelyFailingDeviceIsExcluded() throws {
    let gpu = TimedDevice("gpu:0", kind: .integratedGPU, clock: clock, fails: { true }) { _ in 1e-4 }
    let context = try chain(clock, devices: [TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-3 }, gpu])
    let result = try profile(context)
    #expect(result.devices.map(\.device.id) == ["cpu"])
    #expect(result.remarks.contains { $0.contains("gpu:0 failed and was excluded") })
  }

  /// A chain of three layers on the host and on a device whose layers take this many seconds.
  private func slowContext(_ seconds: Double) throws -> ModelContext {
    try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { _ in 1e-3 },
        TimedDevice("gpu:0", kind: .integratedGPU, clock: clock) { _ in seconds },
      ])
  }

  @Test func deviceThatIsTooSlowForTheBudgetIsReported() throws {
    let start = clock.now()
    let result = try profile(slowContext(5), budget: 2)
    #expect(result.devices.map(\.device.id) == ["cpu"])
    #expect(
      result.remarks.contains {
        $0.hasPrefix("gpu:0 was not measured: one inference takes 15") && $0.hasSuffix("A budget of 150 s measures it")
      }, "\(result.remarks)")
    // Four runs are needed to find out.
    #expect(clock.now() - start < 70)
  }

  @Test func slowDeviceIsMeasuredInTheRoundsOfItsBudget() throws {
    let start = clock.now()
    let result = try profile(slowContext(0.6), budget: 4)
    let slow = try #require(result.devices.first { $0.device.id == "gpu:0" })
    #expect(slow.latency.count == 3)
    #expect(abs(try #require(result.nodes[0].costs["gpu:0"]).seconds - 0.6) < 1e-6)
    #expect(result.remarks.contains { $0.hasPrefix("gpu:0 was measured in 3 of 5 rounds") }, "\(result.remarks)")
    #expect(clock.now() - start < 40)
  }

  @Test func interruptLeavesAPartialProfile() throws {
    let cancellation = Cancellation()
    var options = ProfilerOptions()
    options.budget = 1000
    let profiler = NodeProfiler(
      try context(), PlanRequest(units: .devices(["gpu:0"])), inputs: chainInputs, options: options,
      kelvinVersion: "test", cancellation: cancellation, clock: clock, files: noFiles)
    let result = try profiler.run { if $0.phase.contains("round 3") { cancellation.cancel() } }
    #expect(result.profile.isPartial)
    #expect(result.remarks.contains { $0.contains("interrupted") })
    #expect(result.devices.allSatisfy { (2...3).contains($0.latency.count) })
    #expect(result.nodes[0].costs["cpu"] != nil)
    let early = Cancellation()
    early.cancel()
    let nothing = NodeProfiler(
      try context(), PlanRequest(units: .devices(["gpu:0"])), inputs: chainInputs, kelvinVersion: "test",
      cancellation: early, clock: clock, files: noFiles)
    #expect(throws: RuntimeError.self) { try nothing.run() }
  }

  @Test func boundIsPrintedAndNoisyNodesAreNamed() throws {
    let draws = Mutex(SeededGenerator(seed: 7))
    let context = try chain(
      clock,
      devices: [
        TimedDevice("cpu", kind: .cpu, clock: clock) { node in
          node.name == "layer 1" ? draws.withLock { Double.random(in: 1e-3...9e-3, using: &$0) } : 1e-3
        }
      ])
    var options = ProfilerOptions()
    options.budget = 0.05
    options.bound = 0.02
    let result = try NodeProfiler(
      context, PlanRequest(units: .devices(["cpu"])), inputs: chainInputs, options: options, kelvinVersion: "test",
      clock: clock, files: noFiles
    ).run()
    let text = result.lines().joined(separator: "\n")
    #expect(result.devices[0].noisyNames == ["layer 1"], "\(result.devices[0].noisyNames)")
    #expect(text.contains("less certain than ± 2 % on cpu: 1 of 3 layers: layer 1"), "\(text)")
  }
}

import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
import TestSupport
import Testing

/// Plans for hypothetical machines.
@Suite struct WhatIfTests {
  private static let machine = MachineDescription(
    processor: "Elsewhere", architecture: "x86_64", logicalCores: 4, memoryBytes: 1 << 33, kernel: "6",
    isVirtualised: false)

  /// Two layers of one family, a third of another; the card runs the first alone fast, and refuses the last.
  private func profile(latency: Double = 1e-5) -> MeasuredProfile {
    func cost(_ seconds: Double) -> NodeCost {
      NodeCost(
        seconds: seconds, interval: .init(lower: seconds, upper: seconds, confidence: 0.95), samples: 9,
        source: .hostClock)
    }
    func link(_ from: String, _ to: String) -> TransferCost {
      TransferCost(from: from, to: to, latency: latency, bytesPerSecond: 1e9, samples: 9)
    }
    return MeasuredProfile(
      kelvinVersion: "test", machine: Self.machine,
      devices: [
        DeviceIdentity(id: "cpu", name: "Elsewhere", driver: "avx2", version: "", kind: "cpu", resource: "cpu"),
        DeviceIdentity(
          id: "vulkan:0", name: "Card", driver: "d", version: "1", kind: "discrete GPU", resource: "card",
          memory: 1 << 30),
      ],
      nodes: [
        "a full 4t": ["cpu": cost(1e-3), "vulkan:0": cost(1e-4)],
        "b full 4t": ["cpu": cost(2e-3), "vulkan:0": cost(1e-4)],
        "c full 4t": ["cpu": cost(1e-5)],
      ],
      transfers: [link("cpu", "vulkan:0"), link("vulkan:0", "cpu")],
      work: [
        "a full 4t": .init(op: "convolution", operations: 1e6, bytes: 1e4),
        "b full 4t": .init(op: "convolution", operations: 2e6, bytes: 1e4),
        "c full 4t": .init(op: "top_k", operations: 1e3, bytes: 1e3),
      ],
      models: [
        "key": ProfiledModel(
          name: "small.onnx", function: "main", precision: "automatic", threads: 4,
          inputs: [.init(value: "x", bytes: 1000)], outputs: ["z"],
          nodes: [
            .init(name: "first", key: "a full 4t", inputs: ["x"], outputs: [.init(value: "u", bytes: 1000)]),
            .init(name: "second", key: "b full 4t", inputs: ["u"], outputs: [.init(value: "v", bytes: 1000)]),
            .init(
              name: "third", key: "c full 4t", inputs: ["v"], outputs: [.init(value: "z", bytes: 10)],
              unsupported: ["vulkan:0": "dynamic output"]),
          ])
      ])
  }

  private func solve(_ costs: CostSheet, _ request: PlanRequest = .init()) throws -> PlanExplanation {
    try ProfilePlanner(costs, model: nil).problem(request).explain()
  }

  @Test func profileWithoutModelPlansItsGraph() throws {
    let explanation = try solve(CostSheet(profile()))
    #expect(explanation.solution.placement == ["first": "vulkan:0", "second": "vulkan:0", "third": "cpu"])
    // Two layers of 0.1 ms, one of 10 us, two copies of 10 us and 1 us for 1000 bytes.
    #expect(abs(explanation.solution.predicted - (2e-4 + 1e-5 + 2 * 1.1e-5)) < 1e-12)
    #expect(explanation.nodes[2].candidates.last?.unsupported == "dynamic output")
  }

  /// The card packs the second layer's weight in twice the bytes. An earlier profile contains no weights.
  @Test func weightsOfAProfileCountAgainstItsDevicesMemory() throws {
    var profile = profile()
    profile.devices[1].memory = 80 << 20
    #expect(try solve(CostSheet(profile)).solution.placement["second"] == "vulkan:0")
    profile.models["key"]?.nodes[0].weights = [.init(weight: "u", bytes: 40 << 20)]
    profile.models["key"]?.nodes[1].weights = [.init(weight: "v", bytes: 20 << 20)]
    let read = try MeasuredProfile(json: try profile.json(), document: "weights")
    let dense = try solve(CostSheet(read))
    #expect(dense.solution.placement["first"] == "vulkan:0" && dense.solution.placement["second"] == "vulkan:0")
    profile.models["key"]?.nodes[0].weights?.append(.init(weight: "u packed", bytes: 40 << 20, devices: ["vulkan:0"]))
    profile.models["key"]?.nodes[1].weights?.append(.init(weight: "v packed", bytes: 40 << 20, devices: ["vulkan:0"]))
    let packed = try solve(CostSheet(profile))
    #expect(packed.solution.placement["first"] == "cpu" && packed.solution.placement["second"] == "vulkan:0")
    #expect(packed.nodes[0].reason.hasPrefix("no room on vulkan:0 for its 40.0 MiB of weights"))
  }

  @Test func slowerLinkChangesThePlan() throws {
    let slow = try CostSheet(profile()).with(
      links: ["cpu:vulkan:0=1MB/s,2ms"], devices: try DeviceInventory(whatIf: CostSheet(profile()), threads: 4))
    #expect(Set(try solve(slow).solution.placement.values) == ["cpu"])
    #expect(try solve(CostSheet(profile(latency: 2e-3))).solution.placement["first"] == "cpu")
  }

  @Test func linksAreParsedAndInvalidOnesRefused() throws {
    let ids = ["cpu", "vulkan:0", "vulkan:1"]
    let link = try LinkOverride("vulkan:0:vulkan:1=64GB/s,5us", devices: ids)
    #expect(link.a == "vulkan:0" && link.b == "vulkan:1" && link.bytesPerSecond == 64e9)
    #expect(abs((link.latency ?? 0) - 5e-6) < 1e-15)
    #expect(try LinkOverride("cpu:vulkan:0=2GiB/s", devices: ids).bytesPerSecond == 2 * 1_073_741_824)
    #expect(try LinkOverride("cpu:vulkan:0=1B/s", devices: ids).latency == nil)
    for wrong in [
      "", "=", "cpu=1GB/s", "cpu:cpu=1GB/s", "cpu:vulkan:2=1GB/s", "cpu:vulkan:0=1GB", "cpu:vulkan:0=0GB/s",
      "cpu:vulkan:0=-1GB/s", "cpu:vulkan:0=nanGB/s", "cpu:vulkan:0=1GB/s,", "cpu:vulkan:0=1GB/s,5", "cpu:vulkan:0=/s",
      "cpu:vulkan:0=1GB/s,5us,6us",
    ] {
      #expect(throws: RuntimeError.self, "\(wrong)") { try LinkOverride(wrong, devices: ids) }
    }
  }

  @Test func virtualDevicesRunNothing() throws {
    let inventory = try DeviceInventory(whatIf: CostSheet(profile()), threads: 4)
    let card = try inventory.device("vulkan:0")
    #expect(card.info.kind == .discreteGPU && card.info.resource == "card")
    #expect(throws: DeviceError.self) { try card.makeBuffer(byteCount: 1) }
    let (graph, _) = try RandomGraph.make(seed: 3)
    let planner = Planner(inventory: inventory, costs: CostSheet(profile()))
    let solution = try planner.problem(graph, PlanRequest(threads: 4)).solve()
    #expect(throws: RuntimeError.self) {
      try CompiledModel(
        graph, placement: solution.placement, transfers: solution.transfers, inventory: inventory,
        precision: .automatic, threads: 4, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
    }
  }

  @Test func profileWithoutHostOrGraphIsRefused() throws {
    var headless = profile().removing(devices: ["cpu"])
    #expect(throws: RuntimeError.self) { try DeviceInventory(whatIf: CostSheet(headless), threads: 4) }
    headless = profile()
    headless.models = [:]
    #expect(throws: RuntimeError.self) { try ProfilePlanner(CostSheet(headless), model: nil) }
    #expect(throws: RuntimeError.self) { try ProfilePlanner(CostSheet(profile()), model: "other.onnx") }
    #expect(try ProfilePlanner(CostSheet(profile()), model: "small.onnx").model.nodes.count == 3)
  }

  @Test func pinsExclusionsAndStrictnessApplyToProfiles() throws {
    let pinned = try solve(CostSheet(profile()), PlanRequest(pins: ["first": "cpu"]))
    #expect(pinned.solution.placement["first"] == "cpu")
    let excluded = try solve(CostSheet(profile()), PlanRequest(exclusions: ["vulkan:0"]))
    #expect(Set(excluded.solution.placement.values) == ["cpu"])
    #expect(throws: RuntimeError.self) {
      try solve(CostSheet(profile()), PlanRequest(units: .devices(["vulkan:0"]), isStrict: true))
    }
    #expect(throws: RuntimeError.self) { try solve(CostSheet(profile()), PlanRequest(pins: ["nobody": "cpu"])) }
  }

  @Test func nonOverlappingDevicesAreOneResource() throws {
    var measured = profile()
    let infos = measured.devices.map { DeviceInfo($0) }
    #expect(CostSheet(measured).resources(of: infos) == ["cpu": "cpu", "vulkan:0": "card"])
    measured.corun = [CorunFactor(a: "vulkan:0", b: "cpu", factor: 1.1, samples: 5)]
    #expect(CostSheet(measured).resources(of: infos) == ["cpu": "cpu", "vulkan:0": "cpu"])
    measured.corun[0].factor = 1.8
    #expect(CostSheet(measured).resources(of: infos)["vulkan:0"] == "card")
  }

  @Test("devices on one chip are two resources only if they were measured to overlap")
  func devicesWithCoresOfTheirOwn() {
    var measured = profile()
    let infos = ["cpu", "opencl:0", "opencl:1"].map {
      DeviceInfo(
        id: $0, name: $0, kind: $0 == "cpu" ? .cpu : .software, driver: "test", version: "1", memory: 0, resource: "cpu"
      )
    }
    let cards = Array(infos.dropFirst())
    #expect(Set(CostSheet(measured).resources(of: cards).values) == ["cpu"])
    measured.corun = [CorunFactor(a: "opencl:0", b: "opencl:1", factor: 1.87, samples: 5)]
    #expect(CostSheet(measured).resources(of: cards) == ["opencl:0": "cpu", "opencl:1": "opencl:1"])
    // The host shares with both, and so holds them together where it takes part.
    #expect(Set(CostSheet(measured).resources(of: infos).values) == ["cpu"])
    measured.corun[0].isNoisy = true
    #expect(Set(CostSheet(measured).resources(of: cards).values) == ["cpu"])
    measured.corun[0] = CorunFactor(a: "opencl:0", b: "opencl:1", factor: 1.4, samples: 5)
    #expect(Set(CostSheet(measured).resources(of: cards).values) == ["cpu"])
  }

  @Test func startsAndEnergiesReachTheProblem() throws {
    var measured = profile()
    measured.devices[1].power = DevicePower(idleWatts: 10, busyWatts: 110, source: "test")
    measured.nodes["a full 4t"]?["vulkan:0"]?.compile = 0.02
    measured.nodes["a full 4t"]?["vulkan:0"]?.cold = 3e-4
    measured.startup = ["key": ["vulkan:0": StartupCost(load: 0.5, compile: 0.1, firstRun: 0.01)]]
    measured.transfers[0].watts = 7
    let problem = try ProfilePlanner(CostSheet(measured), model: nil).problem(PlanRequest(goal: .oneShot, runs: 3))
    #expect(problem.start?.load == 0.5 && problem.start?.runs == 3)
    #expect(abs((problem.nodes[0].startSeconds["vulkan:0"] ?? 0) - (0.02 + 2e-4)) < 1e-12)
    #expect(abs((problem.nodes[0].joules["vulkan:0"] ?? 0) - 100 * 1e-4) < 1e-12)
    #expect(problem.transfers.first { $0.from == "cpu" }?.watts == 7)
    let rest = try #require(problem.start?.devices["vulkan:0"])
    #expect(rest > 0 && rest < 0.11)
  }

  @Test func shippedSampleIsALabelledSplit() throws {
    let sample = try #require(try ShippedProfiles.standard.profile("sample-discrete-gpu"))
    #expect(sample.label == .sample)
    let explanation = try solve(CostSheet(sample))
    let counts = Dictionary(grouping: explanation.solution.placement.values) { $0 }.mapValues(\.count)
    #expect(counts["cpu", default: 0] > 10 && counts["vulkan:0", default: 0] > 10)
    let single = try #require(explanation.bestSingleDevice)
    #expect(explanation.solution.predicted < 0.99 * single.predicted)
  }
}

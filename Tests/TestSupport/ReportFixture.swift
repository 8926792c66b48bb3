import Glibc
import KelvinBasics
package import KelvinMeasurements
package import KelvinPlanning
package import KelvinReport
import KelvinThermal

/// A report with everything in it: three devices, an unsupported layer, transfers, a throttling run.
package enum ReportFixture {
  package static func input() throws -> ReportInput {
    let devices = [
      ReportDevice(id: "cpu", name: "Xeon Platinum 8480+", kind: "CPU", driver: "Kelvin kernels"),
      ReportDevice(id: "vulkan:0", name: "llvmpipe", kind: "software driver on the CPU", driver: "Mesa 22.3.6"),
      ReportDevice(id: "opencl:0", name: "pthread", kind: "software driver on the CPU", driver: "PoCL 3.1"),
    ]
    var input = ReportInput(
      title: "MobileNetV2",
      verdict: "Use cpu-only: one photo takes 9.8 ms, 1.9 × faster than the next best, and a stream holds 96 frames/s.",
      kelvinVersion: "0.1.0", generated: "21 November 2026", machine: machine,
      model: ReportModel(name: "MobileNetV2.onnx", format: "ONNX", layers: 64, weightBytes: 14_000_000),
      workload: "one-shot, then stream at 30 frames/s for 10 min", devices: devices)
    input.findings = [
      "One photo from a cold start: cpu-only, 0.31 s until the answer.",
      "Stream at 30 frames/s: no difference measured between cpu-only and all.",
    ]
    input.configurations = configurations
    input.placements = [mixed, single]
    input.timelines = [timeline]
    input.series = try series()
    input.accounts = [
      ("cpu-only", Account(endToEnd: 0.0098, layers: 0.0094, transfers: 0, waits: 0, residual: 0.0004)),
      ("vulkan:0", Account(endToEnd: 0.0391, layers: 0.031, transfers: 0.001, waits: 0.0062, residual: 0.0009)),
    ]
    input.checks = [
      PlanCheck(
        label: "cpu", predicted: 0.0095, measured: 0.01,
        interval: ConfidenceInterval(lower: 0.0099, upper: 0.0102, confidence: 0.95), samples: 40,
        isUndisturbed: false)
    ]
    input.notes = [
      "Configurations were interleaved and compared in pairs; 4 windows with steal above 2 % were set aside.",
      "Nothing on this machine measures a temperature: heat is the model's estimate.",
    ]
    return input
  }

  package static let machine = MachineDescription(
    processor: "Intel(R) Xeon(R) Platinum 8480+", architecture: "x86_64", logicalCores: 2, memoryBytes: 8 << 30,
    kernel: "6.1.0", isVirtualised: true)

  package static let configurations: [ReportConfiguration] = {
    var (cpu, vulkan) = (ReportConfiguration(units: "cpu-only"), ReportConfiguration(units: "vulkan:0"))
    var all = ReportConfiguration(units: "cpu, vulkan:0, opencl:0")
    cpu.isRecommended = true
    (cpu.load, cpu.compile, cpu.first) = (0.021, 0.18, 0.013)
    (cpu.p50, cpu.p90, cpu.p99) = (0.0098, 0.0107, 0.0151)
    cpu.p50Interval = ConfidenceInterval(lower: 0.0097, upper: 0.0099, confidence: 0.95)
    (cpu.samples, cpu.throughput, cpu.drift, cpu.thermal) = (1024, 96.4, 0.99, .nominal)
    cpu.thermalSource = "two-pole model of the envelope \"server\" fed with utilisation"
    cpu.agreement = ReportAgreement(top1: 1, largestDifference: 2.1e-6, meanDifference: 3e-7, inputs: 36)
    (cpu.energy, cpu.energySource) = ("412 mJ", "measured by RAPL, idle power included")
    (vulkan.load, vulkan.compile, vulkan.first) = (0.025, 0.64, 0.061)
    (vulkan.p50, vulkan.p90, vulkan.p99) = (0.0391, 0.0455, 0.0602)
    vulkan.p50Interval = ConfidenceInterval(lower: 0.038, upper: 0.0412, confidence: 0.95)
    (vulkan.samples, vulkan.throughput, vulkan.drift, vulkan.thermal) = (400, 24.8, 0.71, .serious)
    (vulkan.dropped, vulkan.disturbedWindows) = (312, 4)
    vulkan.thermalSource = cpu.thermalSource
    vulkan.agreement = ReportAgreement(top1: 1, largestDifference: 4e-6, meanDifference: 6e-7, inputs: 36)
    vulkan.comparison = "4.0 × slower (3.9 to 4.1)"
    (all.load, all.p50) = (0.03, 0.0186)
    all.agreement = ReportAgreement(top1: 0.9722, largestDifference: 0.003, meanDifference: 2e-4, inputs: 36)
    return [cpu, vulkan, all]
  }()

  /// A plan of nodes without a model.
  package static func plan(_ nodes: [Plan.Node], predicted: Double) -> Plan {
    Plan(
      subject: .init(model: "", modelKey: "", graph: "", machine: "", devices: [], units: "", precision: ""),
      goal: .latency, predicted: predicted, method: .exact, gap: 0, bestSingleDevice: nil, nodes: nodes)
  }

  package static func node(
    _ name: String, _ op: String, _ inputs: [String] = [], device: String, reason: String = "cheapest here",
    regret: Double? = nil, _ candidates: [PlanCandidate], _ transfers: [PlannedTransfer] = []
  ) -> Plan.Node {
    Plan.Node(
      name: name, op: op, origins: [], inputs: inputs, device: device, reason: reason, regret: regret,
      candidates: candidates, transfers: transfers)
  }

  /// A stem, blocks with branches, and a shortcut around half of them.
  package static let mixed: ReportPlacement = {
    var random = SeededGenerator(seed: 4)
    var devices: [String: String] = ["image": "cpu"]
    var nodes: [Plan.Node] = []
    func add(_ op: String, _ inputs: [String], isPool: Bool = false) -> String {
      let index = nodes.count
      let name = "features.\(index / 4).\(op).\(index % 4)"
      let device = index < 18 ? "cpu" : index < 40 ? "vulkan:0" : index < 52 ? "opencl:0" : "cpu"
      let base = 1e-4 + 8e-4 * random.unit() * random.unit()
      let transfers = inputs.compactMap { input -> PlannedTransfer? in
        guard let from = devices[input], from != device else { return nil }
        return PlannedTransfer(value: "\(input)/out", from: from, to: device, bytes: 602_112, seconds: 1.2e-4)
      }
      devices[name] = device
      nodes.append(
        node(
          name, op, inputs, device: device,
          reason: transfers.isEmpty ? "cheapest here" : "kept: moving costs more than it saves", regret: base / 3,
          [
            PlanCandidate(device: "cpu", seconds: base, source: .measured),
            PlanCandidate(
              device: "vulkan:0", seconds: base * 1.4, source: index % 5 != 0 ? .measured : .estimated),
            isPool && device != "opencl:0"
              ? PlanCandidate(device: "opencl:0", unsupported: "dynamic output")
              : PlanCandidate(
                device: "opencl:0", seconds: base * 12, source: index % 3 != 0 ? .measured : .estimated),
          ], transfers))
      return name
    }
    var last = add("conv2d+relu6", ["image"])
    let early = last
    for block in 0..<10 {
      let entry = add("pool", [last], isPool: true)
      let left = add("conv2d", [entry])
      let right = add("conv2d", [add("depthwise", [entry])])
      last =
        block.isMultiple(of: 3) ? add("concat", [left, right, add("conv2d", [entry])]) : add("add", [left, right])
    }
    last = add("concat", [last, early])
    for _ in nodes.count..<64 { last = add("gemm", [last]) }
    var plan = ReportFixture.plan(nodes, predicted: 0.0179)
    plan.bestSingleDevice = .init(device: "cpu", predicted: 0.0098)
    return ReportPlacement(
      units: "cpu, vulkan:0, opencl:0", plan: plan, measured: 0.0186,
      facts: [ReportFact("bottleneck", "vulkan:0, 8.10 ms")])
  }()

  /// A loop around a branch, between two layers.
  package static let regions: ReportPlacement = {
    func node(_ name: String, _ op: String, _ inputs: [String], in region: String = "", runs: Double = 1) -> Plan.Node {
      var node = ReportFixture.node(
        name, op, inputs, device: op == "loop" || op == "branch" ? "cpu" : "vulkan:0",
        [PlanCandidate(device: "vulkan:0", seconds: 1e-4 * runs, source: .measured)],
        name == "next"
          ? [
            PlannedTransfer(value: "loop#trip", from: "cpu", to: "vulkan:0", bytes: 0, seconds: 2e-3, isSignal: true)
          ] : [])
      (node.region, node.iterations) = (region, runs)
      return node
    }
    let nodes = [
      node("before", "gemm", ["x"]), node("loop", "loop", ["before"]),
      node("inside", "gemm", ["before"], in: "loop/body", runs: 50),
      node("branch", "branch", ["inside"], in: "loop/body", runs: 50),
      node("one", "gemm", ["inside"], in: "loop/body/branch/then", runs: 12.5),
      node("other", "gemm", ["inside"], in: "loop/body/branch/else", runs: 37.5),
      node("next", "reshape", ["one", "other"], in: "loop/body", runs: 50), node("after", "gemm", ["next"]),
    ]
    return ReportPlacement(units: "vulkan:0", plan: plan(nodes, predicted: 0.004))
  }()

  /// A layer before and one after twelve times the same four, of which the sixth time and those after it are slower.
  package static let repeating: ReportPlacement = {
    func node(_ name: String, reads input: String, seconds: Double) -> Plan.Node {
      ReportFixture.node(
        name, "linear", [input], device: "cpu", [PlanCandidate(device: "cpu", seconds: seconds, source: .measured)])
    }
    var nodes = [node("stem", reads: "x", seconds: 2e-3)]
    for time in 0..<12 {
      for layer in 0..<4 {
        let seconds = time < 6 || layer > 0 ? 1e-3 : 2e-3
        nodes.append(node("layer.\(time).\(layer)", reads: nodes[nodes.count - 1].name, seconds: seconds))
      }
    }
    nodes.append(node("head", reads: nodes[nodes.count - 1].name, seconds: 2e-3))
    var placement = ReportPlacement(units: "cpu", plan: plan(nodes, predicted: 58e-3))
    placement.blocks = [RepeatedBlock(start: 1, period: 4, count: 12)]
    return placement
  }()

  package static let single = ReportPlacement(
    units: "cpu-only",
    plan: plan(
      [
        node(
          "only", "gemm", device: "cpu", reason: "the only unit asked for",
          [PlanCandidate(device: "cpu", seconds: 0.0097, source: .estimated)])
      ], predicted: 0.0097))

  package static let timeline: ReportTimeline = {
    var now = 100.0
    var events: [TraceEvent] = []
    for node in mixed.plan.nodes {
      for transfer in node.transfers {
        events.append(
          TraceEvent(
            name: transfer.value, kind: .transfer, device: transfer.to, start: now, duration: transfer.seconds,
            details: ["from": transfer.from]))
        now += transfer.seconds
      }
      let seconds = node.chosen?.seconds ?? 0
      events.append(TraceEvent(name: node.name, kind: .node, device: node.device, start: now, duration: seconds))
      now += seconds
    }
    events.append(TraceEvent(name: "wait", kind: .wait, device: "cpu", start: 100.004, duration: 0.008))
    return ReportTimeline(units: "cpu, vulkan:0, opencl:0", events: events)
  }()

  /// The events of the mixed placement in a trace.
  package static var mixedEvents: [TraceEvent] { timeline.events }

  package static func series() throws -> [ReportSeries] {
    var random = SeededGenerator(seed: 8)
    var model = ThermalModel(
      fast: ThermalPole(weight: 0.4, tau: 5), slow: ThermalPole(weight: 0.6, tau: 150), fastRise: 0.3, slowRise: 0.3)
    var filter = ThermalStateFilter()
    var hot = ReportSeries(units: "vulkan:0", points: [], heatSource: "two-pole model fed with utilisation")
    var cool = ReportSeries(units: "cpu-only", points: [])
    for frame in 0..<1200 {
      let at = Double(frame) * 0.5
      model.advance(by: 0.5, load: 1.1)
      let decay = 0.039 + 0.016 * (1 - exp(-at / 150))
      hot.points.append((at, decay * (1 + 0.15 * random.unit())))
      cool.points.append((at, 0.0098 * (1 + 0.1 * random.unit())))
      hot.heat.append(.init(at: at, state: filter.update(at: at, headroom: model.headroom), headroom: model.headroom))
    }
    hot.fit = try DecayFit(times: hot.points.map(\.at), latencies: hot.points.map(\.latency), resamples: 100)
    cool.fit = try DecayFit(times: cool.points.map(\.at), latencies: cool.points.map(\.latency), resamples: 100)
    hot.actions = [
      (118, "rate × 0.5", "fair, headroom 0.86, at the limit in 95 s"),
      (402, "plan cpu-only", "critical, headroom 1.02"),
    ]
    hot.disturbances = [(200, 224), (310, 316)]
    return [cool, hot]
  }
}

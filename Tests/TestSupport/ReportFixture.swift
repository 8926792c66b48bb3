import Glibc
import KelvinBasics
package import KelvinMeasurements
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
    return ReportInput(
      title: "MobileNetV2",
      verdict: "Use cpu-only: one photo takes 9.8 ms, 1.9 × faster than the next best, and a stream holds 96 frames/s.",
      findings: [
        "One photo from a cold start: cpu-only, 0.31 s until the answer.",
        "Stream at 30 frames/s: no difference measured between cpu-only and all.",
      ],
      kelvinVersion: "0.1.0", generated: "21 November 2026", machine: machine,
      model: ReportModel(name: "MobileNetV2.onnx", format: "ONNX", layers: 64, weightBytes: 14_000_000),
      workload: "one-shot, then stream at 30 frames/s for 10 min", devices: devices, configurations: configurations,
      placements: [mixed, single], timelines: [timeline], series: try series(),
      accounts: [
        ReportAccount(units: "cpu-only", layers: 0.0094, transfers: 0, waits: 0, residual: 0.0004),
        ReportAccount(units: "vulkan:0", layers: 0.031, transfers: 0.001, waits: 0.0062, residual: 0.0009),
      ],
      checks: [ReportCheck(label: "cpu", predicted: 0.0095, measured: 0.01, samples: 40, isUndisturbed: false)],
      notes: [
        "Configurations were interleaved and compared in pairs; 4 windows with steal above 2 % were set aside.",
        "Nothing on this machine measures a temperature: heat is the model's estimate.",
      ])
  }

  package static let machine = MachineDescription(
    processor: "Intel(R) Xeon(R) Platinum 8480+", architecture: "x86_64", logicalCores: 2, memoryBytes: 8 << 30,
    kernel: "6.1.0", isVirtualised: true)

  package static let configurations = [
    ReportConfiguration(
      units: "cpu-only", isRecommended: true, load: 0.021, compile: 0.18, first: 0.013, p50: 0.0098, p90: 0.0107,
      p99: 0.0151,
      p50Interval: ConfidenceInterval(lower: 0.0097, upper: 0.0099, confidence: 0.95), samples: 1024, throughput: 96.4,
      drift: 0.99, thermal: .nominal,
      thermalSource: "two-pole model of the envelope \"server\" fed with utilisation",
      agreement: ReportAgreement(top1: 1, largestDifference: 2.1e-6, meanDifference: 3e-7, inputs: 36), joules: 0.412,
      energySource: "measured by RAPL, idle power included"),
    ReportConfiguration(
      units: "vulkan:0", load: 0.025, compile: 0.64, first: 0.061, p50: 0.0391, p90: 0.0455, p99: 0.0602,
      p50Interval: ConfidenceInterval(lower: 0.038, upper: 0.0412, confidence: 0.95), samples: 400, throughput: 24.8,
      drift: 0.71, dropped: 312, thermal: .serious,
      thermalSource: "two-pole model of the envelope \"server\" fed with utilisation",
      agreement: ReportAgreement(top1: 1, largestDifference: 4e-6, meanDifference: 6e-7, inputs: 36),
      comparison: "4.0 × slower (3.9 to 4.1)", disturbedWindows: 4),
    ReportConfiguration(
      units: "cpu, vulkan:0, opencl:0", load: 0.03, p50: 0.0186,
      agreement: ReportAgreement(top1: 0.9722, largestDifference: 0.003, meanDifference: 2e-4, inputs: 36)),
  ]

  /// A stem, blocks with branches, and a shortcut around half of them.
  package static let mixed: ReportPlacement = {
    var random = SeededGenerator(seed: 4)
    var devices: [String: String] = ["image": "cpu"]
    var nodes: [ReportNode] = []
    func add(_ op: String, _ inputs: [String], isPool: Bool = false) -> String {
      let index = nodes.count
      let name = "features.\(index / 4).\(op).\(index % 4)"
      let device = index < 18 ? "cpu" : index < 40 ? "vulkan:0" : index < 52 ? "opencl:0" : "cpu"
      let base = 1e-4 + 8e-4 * random.unit() * random.unit()
      let transfers = inputs.compactMap { input -> ReportTransfer? in
        guard let from = devices[input], from != device else { return nil }
        return ReportTransfer(value: "\(input)/out", from: from, to: device, bytes: 602_112, seconds: 1.2e-4)
      }
      devices[name] = device
      nodes.append(
        ReportNode(
          name: name, op: op, inputs: inputs, device: device,
          reason: transfers.isEmpty ? "cheapest here" : "kept: moving costs more than it saves", regret: base / 3,
          candidates: [
            ReportCandidate(device: "cpu", seconds: base, isMeasured: true),
            ReportCandidate(device: "vulkan:0", seconds: base * 1.4, isMeasured: index % 5 != 0),
            isPool && device != "opencl:0"
              ? ReportCandidate(device: "opencl:0", unsupported: "dynamic output")
              : ReportCandidate(device: "opencl:0", seconds: base * 12, isMeasured: index % 3 != 0),
          ], transfers: transfers))
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
    return ReportPlacement(
      units: "cpu, vulkan:0, opencl:0", goal: "latency", predicted: 0.0179, measured: 0.0186, bestSingleDevice: "cpu",
      bestSingleSeconds: 0.0098, facts: [ReportFact("bottleneck", "vulkan:0, 8.10 ms")], nodes: nodes)
  }()

  /// A loop around a branch, between two layers.
  package static let regions: ReportPlacement = {
    func node(_ name: String, _ op: String, _ inputs: [String], in region: String = "", runs: Double = 1) -> ReportNode
    {
      ReportNode(
        name: name, op: op, inputs: inputs, device: op == "loop" || op == "branch" ? "cpu" : "vulkan:0",
        reason: "cheapest here",
        candidates: [ReportCandidate(device: "vulkan:0", seconds: 1e-4 * runs, isMeasured: true)],
        transfers: name == "next"
          ? [
            ReportTransfer(value: "loop#trip", from: "cpu", to: "vulkan:0", bytes: 0, seconds: 2e-3, isSignal: true)
          ] : [], region: region, runs: runs)
    }
    return ReportPlacement(
      units: "vulkan:0", goal: "latency", predicted: 0.004,
      nodes: [
        node("before", "gemm", ["x"]), node("loop", "loop", ["before"]),
        node("inside", "gemm", ["before"], in: "loop/body", runs: 50),
        node("branch", "branch", ["inside"], in: "loop/body", runs: 50),
        node("one", "gemm", ["inside"], in: "loop/body/branch/then", runs: 12.5),
        node("other", "gemm", ["inside"], in: "loop/body/branch/else", runs: 37.5),
        node("next", "reshape", ["one", "other"], in: "loop/body", runs: 50), node("after", "gemm", ["next"]),
      ])
  }()

  /// A layer before and one after twelve times the same four, of which the sixth time and those after it are slower.
  package static let repeating: ReportPlacement = {
    func node(_ name: String, reads input: String, seconds: Double) -> ReportNode {
      ReportNode(
        name: name, op: "linear", inputs: [input], device: "cpu", reason: "cheapest here",
        candidates: [ReportCandidate(device: "cpu", seconds: seconds, isMeasured: true)])
    }
    var nodes = [node("stem", reads: "x", seconds: 2e-3)]
    for time in 0..<12 {
      for layer in 0..<4 {
        let seconds = time < 6 || layer > 0 ? 1e-3 : 2e-3
        nodes.append(node("layer.\(time).\(layer)", reads: nodes[nodes.count - 1].name, seconds: seconds))
      }
    }
    nodes.append(node("head", reads: nodes[nodes.count - 1].name, seconds: 2e-3))
    return ReportPlacement(
      units: "cpu", goal: "latency", predicted: 58e-3, nodes: nodes,
      blocks: [RepeatedBlock(start: 1, period: 4, count: 12)])
  }()

  package static let single = ReportPlacement(
    units: "cpu-only", goal: "latency", predicted: 0.0097,
    nodes: [
      ReportNode(
        name: "only", op: "gemm", device: "cpu", reason: "the only unit asked for",
        candidates: [ReportCandidate(device: "cpu", seconds: 0.0097, isMeasured: false)])
    ])

  package static let timeline: ReportTimeline = {
    var now = 100.0
    var events: [TraceEvent] = []
    for node in mixed.nodes {
      for transfer in node.transfers {
        events.append(
          TraceEvent(
            name: transfer.value, kind: .transfer, device: transfer.to, start: now, duration: transfer.seconds,
            details: ["from": transfer.from]))
        now += transfer.seconds
      }
      let seconds = node.seconds ?? 0
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
      hot.points.append(.init(at: at, latency: decay * (1 + 0.15 * random.unit())))
      cool.points.append(.init(at: at, latency: 0.0098 * (1 + 0.1 * random.unit())))
      hot.heat.append(.init(at: at, state: filter.update(at: at, headroom: model.headroom), headroom: model.headroom))
    }
    hot.fit = try DecayFit(times: hot.points.map(\.at), latencies: hot.points.map(\.latency), resamples: 100)
    cool.fit = try DecayFit(times: cool.points.map(\.at), latencies: cool.points.map(\.latency), resamples: 100)
    hot.actions = [
      .init(at: 118, name: "rate × 0.5", cause: "fair, headroom 0.86, at the limit in 95 s"),
      .init(at: 402, name: "plan cpu-only", cause: "critical, headroom 1.02"),
    ]
    hot.disturbances = [.init(from: 200, to: 224), .init(from: 310, to: 316)]
    return [cool, hot]
  }
}

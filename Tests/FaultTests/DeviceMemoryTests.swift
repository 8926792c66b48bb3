import CFaultyDrivers
import ConformanceChecks
import KelvinBasics
import KelvinDevices
import KelvinEngine
import KelvinFeatures
import KelvinGraph
import KelvinMeasurements
import KelvinPlanning
import KelvinRuntime
import TestSupport
import Testing

/// Devices whose memory is limited, or partly held by other processes.
@Suite(.serialized) struct DeviceMemoryTests {
  /// Vulkan's driver reports the memory in use; OpenCL's reports the size only.
  @Test(arguments: Interface.allCases) func freeMemoryIsWhatNobodyHolds(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      var order = FaultyOrder()
      (order.card, order.memory, order.taken) = (FaultyCardDiscrete, 64 << 20, 24 << 20)
      let device = try #require(FaultyMachine(interface, order).device)
      func isFree(_ count: Int) -> Bool {
        // OpenCL's buffers are rounded up to pages.
        (device.freeMemory ?? 0) - count < (interface == .vulkan ? 1 : 4096) && (device.freeMemory ?? 0) >= count
      }
      let before = Int(faulty_held_bytes())
      #expect(isFree(64 << 20 - (interface == .vulkan ? 24 << 20 : 0) - before))
      let buffer = try device.makeBuffer(byteCount: 8 << 20)
      let after = Int(faulty_held_bytes())
      #expect(after >= before + 8 << 20)
      #expect(isFree(64 << 20 - (interface == .vulkan ? 24 << 20 : 0) - after))
      #expect(throws: DeviceError.self) { _ = try device.makeBuffer(byteCount: 40 << 20) }
      withExtendedLifetime(buffer) {}
      leave()
    }
  }

  /// The driver refuses what its reported memory would hold: the device keeps the layers that it has memory for.
  @Test(arguments: Tier.some(1, of: Interface.allCases))
  func refusedAllocationMovesLayers(interface: Interface) async {
    await #expect(processExitsWith: .success) { [interface] in
      let room = ProductChain.count * ProductChain.weightBytes / 2
      var order = FaultyOrder()
      (order.card, order.memory) = (FaultyCardDiscrete, 64 << 20)
      order.hidden = order.memory - UInt(room)
      let machine = FaultyMachine(interface, order)
      let values = (0..<ProductChain.shape.reduce(1, *)).map { Float($0 % 23) / 23 - 0.5 }
      let input = DictionaryFeatureProvider(
        dictionary: ["x": FeatureValue(multiArray: try MultiArray(values, shape: ProductChain.shape))])
      func load(_ units: [String] = []) throws -> Predictor {
        try machine.load(ProductChain.path, shape: ProductChain.shape, units: units)
      }
      let expected = try load(["cpu"]).answer(input)
      let predictor = try load()
      #expect(distance(try predictor.answer(input), expected) < 1e-4)
      let placement = try predictor.loaded.shown.proven().explanation.solution.placement
      let placed = placement.values.count { $0 == interface.device }
      #expect(placed >= ProductChain.count / 6 && placed <= ProductChain.count / 2, "\(placement)")
      #expect(faulty_peak_bytes() <= room)
      let fallback = predictor.loaded.fallback
      #expect(fallback.failures.isEmpty)
      #expect(fallback.remarks.count == 1, "\(fallback.remarks)")
      #expect(fallback.remarks.first?.hasPrefix("\(interface.device) has less memory than its driver reported") == true)
      #expect(throws: (any Error).self) {
        _ = try machine.load(ProductChain.path, shape: ProductChain.shape, isStrict: true)
      }
      leave()
    }
  }

  /// The counted peak stays within the memory, and the plan leaves no room for one more weight.
  @Test(arguments: Tier.some(2, of: LimitedPlan.all)) func planKeepsWithinTheMemory(limited: LimitedPlan) async {
    await #expect(processExitsWith: .success) { [limited] in
      try limited.check()
      leave()
    }
  }
}

/// A chain of products on a device whose memory is a share of their weights.
struct LimitedPlan: Codable, Sendable, CustomStringConvertible {
  let interface: Interface
  let card: UInt32
  /// The percentage of the weights that the device's memory holds.
  let share: Int
  /// Whether the other processes hold as much again.
  var isShared = false

  var description: String { "\(interface.rawValue), card \(card), \(share) %\(isShared ? ", shared" : "")" }

  static let all =
    [
      LimitedPlan(interface: .vulkan, card: FaultyCardDiscrete.rawValue, share: 40, isShared: true),
      LimitedPlan(interface: .opencl, card: FaultyCardAsItIs.rawValue, share: 20),
    ]
    + [5, 20, 40, 60, 100].flatMap { share in
      [FaultyCardAsItIs, FaultyCardDiscrete, FaultyCardIntegrated].flatMap { card in
        Interface.allCases.map { LimitedPlan(interface: $0, card: card.rawValue, share: share) }
      }
    }

  static let count = 24
  private static let width = 256
  static var weightBytes: Int { width * width * 4 }

  func check() throws {
    let graph = try Self.chain()
    var order = FaultyOrder()
    let limit = Self.count * Self.weightBytes * share / 100
    order.card = FaultyCard(rawValue: card)
    order.taken = isShared ? UInt(limit) : 0
    order.memory = UInt(limit) + order.taken
    let machine = FaultyMachine(interface, order)
    let device = try #require(machine.device)
    let costs = Self.costs(graph, on: [device, machine.inventory.host])
    var random = SeededGenerator(seed: 3)
    let input = Tensor.random(.float32, [2, Self.width], -1...1, &random)

    func run(_ units: [String]) throws -> (output: Tensor, placement: [String: String]) {
      let request = PlanRequest(units: .devices(units), precision: .full)
      let solution = try Planner(inventory: machine.inventory, costs: costs).problem(graph, request).solve()
      let model = try CompiledModel(
        graph, placement: solution.placement, transfers: solution.transfers, inventory: machine.inventory,
        precision: .full, threads: 1, storage: { _ in (MemoryPackedWeights(), NoBlobCache()) })
      return (try model.makeSession().run([input])[0], solution.placement)
    }
    let expected = try run(["cpu"]).output
    let (output, placement) = try run(["cpu", device.info.id])
    #expect(Tolerance(relative: 1e-3, absolute: 1e-5).difference(of: output, from: expected) == nil)

    let placed = placement.values.count { $0 == device.info.id }
    let peak = Int(faulty_peak_bytes())
    #expect(peak <= limit, "\(placed) weights, \(peak) of \(limit) bytes")
    #expect(peak >= placed * Self.weightBytes)
    // The reserve takes one weight, and the values at most another.
    #expect(placed >= min(limit * 31 / 32 / Self.weightBytes - 2, Self.count - 2), "\(placed) weights")
    #expect(placed < Self.count)
  }

  static func chain() throws -> Graph {
    var random = SeededGenerator(seed: 7)
    var graph = Graph()
    var last = graph.addValue(Value(name: "x", type: TensorType(.float32, [2, width])))
    graph.inputs = [last]
    for index in 0..<count {
      let matrix = Tensor.random(.float32, [width, width], -0.1...0.1, &random)
      let weight = graph.addValue(Value(name: "w\(index)", type: matrix.type, weight: Weight(matrix)))
      // Small weights between large ones.
      let offset = Tensor.random(.float32, [width], -0.1...0.1, &random)
      let bias = graph.addValue(Value(name: "b\(index)", type: offset.type, weight: Weight(offset)))
      let op = Linear(epilogue: .bias)
      let next = graph.addValue(Value(name: "y\(index)", type: try op.infer(graph.types([last, weight, bias]))[0]))
      let origin = Origin(name: "product \(index)", kind: op.name, index: index)
      graph.nodes.append(
        Node(name: "product \(index)", op: op, inputs: [last, weight, bias], outputs: [next], origins: [origin]))
      last = next
    }
    graph.outputs = [last]
    return graph
  }

  /// The device computes a product in a tenth of the host's time. At the usual pace of the link, it takes longer to copy
  /// a weight than to compute its product on the host.
  static func costs(_ graph: Graph, on devices: [any Device], bytesPerSecond: Double = 1e8) -> CostSheet {
    var profile = MeasuredProfile(kelvinVersion: "1", machine: MachineDescription(SystemFiles()))
    profile.devices = devices.map(\.info.identity)
    for (from, to) in [(devices[0], devices[1]), (devices[1], devices[0])] {
      profile.transfers.append(
        TransferCost(from: from.info.id, to: to.info.id, latency: 1e-5, bytesPerSecond: bytesPerSecond, samples: 9))
    }
    for node in graph.nodes {
      for device in devices {
        let seconds = device.info.isHost ? 1e-3 : 1e-4
        let key = CostSheet.key(node, in: graph, on: device, asking: .full, threads: 1)
        profile.nodes[key, default: [:]][device.info.id] = NodeCost(
          seconds: seconds, interval: ConfidenceInterval(lower: seconds, upper: seconds, confidence: 0.95), samples: 9,
          source: .hostClock)
      }
    }
    return CostSheet(profile)
  }
}

import KelvinBasics
import KelvinDevices
import KelvinGraph
import KelvinVulkan
import Synchronization
import TestSupport
import Testing

@Suite(.enabled(if: !present.isEmpty, absence))
struct TuningTests {
  /// The layers whose implementations have a choice of register tiles.
  enum Layer: String, CaseIterable {
    case pointwise, taps, grouped, residual, deep, winograd, transposed, rows, deepRows, codes

    var graph: Graph {
      get throws {
        let window = Window(kernel: [3, 3], before: [1, 1], after: [1, 1])
        let activated = Epilogue(hasBias: true, activation: .relu)
        switch self {
        case .pointwise:
          return try Self.node(Convolution(window: .init(kernel: [1, 1])), [2, 24, 9, 11], [[40, 24, 1, 1]])
        case .taps:
          return try Self.node(
            Convolution(window: window, epilogue: activated), [1, 12, 13, 9], [[36, 12, 3, 3], [36]])
        case .grouped:
          return try Self.node(Convolution(window: window, groups: 3), [1, 24, 7, 6], [[48, 8, 3, 3]])
        case .residual:
          let epilogue = Epilogue(hasBias: true, addsResidual: true, activation: .relu)
          return try Self.node(
            Convolution(window: window, epilogue: epilogue), [1, 16, 10, 10], [[20, 16, 3, 3], [20]],
            residual: [1, 20, 10, 10])
        // Groups of a card share the depth.
        case .deep:
          return try Self.node(
            Convolution(window: window, epilogue: activated), [1, 67, 5, 7], [[40, 67, 3, 3], [40]])
        case .winograd:
          return try Self.node(
            Convolution(window: window, epilogue: activated), [2, 174, 13, 10], [[178, 174, 3, 3], [178]])
        case .transposed:
          return try Self.node(
            ConvolutionTranspose(window: .init(kernel: [2, 2], strides: [2, 2])), [1, 16, 7, 5], [[16, 24, 2, 2]])
        case .rows: return try Self.node(Linear(epilogue: .bias), [80, 64], [[96, 64], [96]])
        case .deepRows: return try Self.node(Linear(epilogue: .bias), [19, 640], [[100, 640], [100]])
        case .codes: return try Self.node(Linear(epilogue: .bias), [80, 64], [[96, 64], [96]], isCoded: true)
        }
      }
    }

    /// Rows times a matrix of so many columns.
    static func columns(_ count: Int) throws -> Graph {
      try node(Linear(epilogue: .bias), [80, 64], [[count, 64], [count]])
    }

    private static func node(
      _ op: any Operator, _ input: Shape, _ weights: [Shape], residual: Shape? = nil, isCoded: Bool = false
    ) throws -> Graph {
      var random = SeededGenerator(seed: 7)
      var graph = Graph()
      graph.inputs = [graph.addValue(Value(name: "x", type: TensorType(.float32, input)))]
      var operands = graph.inputs
      for (index, shape) in weights.enumerated() {
        var weight = Weight(Tensor.random(.float32, shape, -1...1, &random))
        if isCoded, index == 0 {
          let codes = Tensor.random(.int8, shape, -128...127, &random)
          weight = try Weight(
            affine: Weight(codes), scale: Weight(Tensor(TensorType(.float32, [1, 1]), rounding: [0.01])))
        }
        operands.append(graph.addValue(Value(name: "w\(index)", type: weight.type, weight: weight)))
      }
      if let residual {
        graph.inputs.append(graph.addValue(Value(name: "r", type: TensorType(.float32, residual))))
        operands.append(graph.inputs[1])
      }
      let output = graph.addValue(Value(name: "y", type: try op.infer(graph.types(operands))[0]))
      graph.nodes = [Node(name: "node", op: op, inputs: operands, outputs: [output], origins: [])]
      graph.outputs = [output]
      return graph
    }
  }

  /// Kernels with other results would not have been timed.
  @Test(.slow, arguments: Layer.allCases) func everyAlternativeGivesTheSameBits(_ layer: Layer) throws {
    let graph = try layer.graph
    for device in [present[0], cards[0]] {
      let variants = try variants(device.kernelFamily, graph)
      #expect(variants.count > 2, "\(device.info.name)")
      let timed = Mutex(Set<String>())
      _ = try compiled(graph, on: device, KeptBlobs()) { name, seconds in
        timed.withLock { _ = $0.insert(name) }
        return seconds
      }
      #expect(timed.withLock { $0 } == Set(variants), "\(device.info.kind)")
    }
  }

  @Test func tileAlternativesAreNamedByRegisters() throws {
    let graph = try Layer.winograd.graph
    #expect(try variants(present[0].kernelFamily, graph).contains(subset: ["4x2", "4x8", "8x2", "8x4"]))
    let taps = try Layer.taps.graph
    #expect(try variants(cards[0].kernelFamily, taps, "tiles").contains(subset: ["1x1", "1x4", "4x2", "4x4"]))
  }

  /// Register tiles add the same products in the same order, unless groups share the depth.
  @Test func stagedAlternativesAreNamedByPositionsAndChannels() throws {
    for layer in [Layer.taps, .winograd, .rows] {
      let names = try variants(cards[0].kernelFamily, layer.graph)
      #expect(names.contains { $0.hasPrefix("64x") } && names.contains("2x2"), "\(layer): \(names)")
    }
    for layer in [Layer.deep, .deepRows] {
      let names = try variants(cards[0].kernelFamily, layer.graph)
      #expect(names.count > 1 && !names.contains("2x2"), "\(layer): \(names)")
    }
  }

  @Test func alternativesStayWithinTheGroupLimit() throws {
    let imitation = VulkanOptions(validates: watches, imitating: VulkanDeviceOverrides(groupLimit: 16))
    let narrow = try #require(VulkanDevice.discover(options: imitation).compactMap { $0.device as? VulkanDevice }.first)
    let few = try Layer.columns(128)
    let variants = try variants(narrow.kernelFamily, few, "dense")
    #expect(variants.contains(subset: ["4x2", "8x2"]))
    #expect(!variants.contains { $0.hasSuffix("x1") }, "which takes 32 groups of four columns")
    let many = try Layer.columns(256)
    #expect(try self.variants(cards[0].kernelFamily, many, "dense").count > 1)
    #expect(try self.variants(narrow.kernelFamily, many, "dense") == [""], "tiles of two blocks take 32 groups")
    #expect(try self.variants(narrow.kernelFamily, Layer.columns(1 << 10)).contains("64x64"), "which takes 16 groups")
    _ = try compiled(many, on: narrow, NoBlobCache()) { _, seconds in seconds }
    #expect {
      try compiled(Layer.columns(1 << 14), on: narrow, NoBlobCache()) { _, seconds in seconds }
    } throws: {
      "\($0)".contains("a grid of 256 groups along x, where the device runs 16")
    }
  }

  @Test(arguments: Tier.some(1, of: [Layer.rows, .winograd, .taps]))
  func fastestAlternativeIsChosen(_ layer: Layer) throws {
    let graph = try layer.graph
    for device in [present[0], cards[0]] {
      let variants = try variants(device.kernelFamily, graph)
      let plain = try compiled(graph, on: device, NoBlobCache()) { _, seconds in seconds }
      let wanted = try results(plain, graph, on: device)
      #expect(plain.kernels["node"]?.hasSuffix(" \(variants[0])") == true)
      for variant in variants.suffix(2) {
        let taken = try compiled(graph, on: device, KeptBlobs()) { name, _ in name == variant ? 1 : 2 }
        #expect(taken.kernels["node"]?.hasSuffix(" \(variant)") == true)
        #expect(try results(taken, graph, on: device) == wanted)
      }
    }
  }

  @Test func storedChoiceIsUsedByAnotherProcess() throws {
    let (graph, blobs) = (try Layer.taps.graph, KeptBlobs())
    let variant = try #require(try variants(present[0].kernelFamily, graph).last)
    _ = try compiled(graph, on: present[0], blobs) { name, _ in name == variant ? 1 : 2 }
    let later = try #require(VulkanDevice.discover().compactMap { $0.device as? VulkanDevice }.first)
    let timed = Mutex(0)
    for mode in [KernelTuning.Mode.automatic, .exhaustive] {
      let executable = try compiled(graph, on: later, blobs, mode) { _, seconds in
        timed.withLock { $0 += 1 }
        return seconds
      }
      #expect(executable.kernels["node"] == "tiles \(variant)")
    }
    #expect(timed.withLock { $0 } == 0)
    let deterministic = try later.compile(
      segment(graph, blobs, KernelTuning(.exhaustive), isDeterministic: true))
    #expect(deterministic.kernels["node"] != "tiles \(variant)")
  }

  @Test func softwareDriversTimeOnlyOnRequest() throws {
    let timed = Mutex(0)
    for device in present where device.info.kind == .software {
      _ = try compiled(try Layer.taps.graph, on: device, KeptBlobs(), .automatic) { _, seconds in
        timed.withLock { $0 += 1 }
        return seconds
      }
    }
    #expect(timed.withLock { $0 } == 0)
  }

  /// The first kernel's tiles, then its alternatives'.
  ///
  /// - Parameter key: the implementation; nil for the first one.
  private func variants(_ family: some KernelFamily, _ graph: Graph, _ key: String? = nil) throws -> [String] {
    let offers = try family.offers(for: KernelRequest(graph.nodes[0], in: graph, isDeterministic: false))
    let offer = try #require(offers.first { key == nil || $0.key == key })
    return [offer.variant] + offer.alternatives.map(\.name)
  }

  private func segment(
    _ graph: Graph, _ blobs: any BlobCache, _ tuning: KernelTuning, isDeterministic: Bool = false
  ) -> Segment {
    Segment(
      graph: graph, precision: .full, threads: 1, isDeterministic: isDeterministic, weights: MemoryPackedWeights(),
      blobs: blobs, tuning: tuning)
  }

  private func compiled(
    _ graph: Graph, on device: VulkanDevice, _ blobs: any BlobCache, _ mode: KernelTuning.Mode = .exhaustive,
    judged: @escaping @Sendable (String, Double) -> Double
  ) throws -> any Executable {
    try device.compile(segment(graph, blobs, KernelTuning(mode, judged: { _, name, seconds in judged(name, seconds) })))
  }

  private func results(_ executable: any Executable, _ graph: Graph, on device: VulkanDevice) throws -> Digest {
    let trial = try NodeTrial(executable, of: graph, on: device, in: TrialMemory())
    _ = try trial.seconds()
    return try trial.results()
  }
}

private final class KeptBlobs: BlobCache {
  private let blobs = Mutex<[String: Bytes]>([:])

  func blob(_ key: String) -> Bytes? { blobs.withLock { $0[key] } }
  func store(_ key: String, _ bytes: UnsafeRawBufferPointer) {
    let copy = Bytes(copying: bytes)
    blobs.withLock { $0[key] = copy }
  }
}

extension [String] {
  fileprivate func contains(subset: Set<String>) -> Bool { subset.isSubset(of: self) }
}

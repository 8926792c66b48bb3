import ConformanceChecks
import FoundationEssentials
import KelvinBasics
import KelvinConformance
import KelvinDevices
import KelvinGraph
import KelvinReference
import KelvinVulkan
import Synchronization
import TestSupport
import Testing

let wordsAlone: Comment = "the driver does not let kernels read and write 16 bits"

@Suite(.enabled(if: !present.isEmpty, absence))
struct VulkanDeviceTests {
  private let device = present[0]

  @Test func bytesAreCopiedAtAnyOffset() throws {
    let buffer = try device.makeBuffer(byteCount: 1021)
    let bytes = (0..<509).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    try bytes.withUnsafeBytes { try buffer.write($0, at: 512) }
    var copy = [UInt8](repeating: 0, count: 509)
    try copy.withUnsafeMutableBytes { try buffer.read(into: $0, at: 512) }
    #expect(copy == bytes)
    var before = [UInt8](repeating: 1, count: 512)
    try before.withUnsafeMutableBytes { try buffer.read(into: $0, at: 0) }
    #expect(before.allSatisfy { $0 == 0 })
  }

  @Test func unifiedMemoryIsSharedWithTheHost() throws {
    guard device.info.kind != .discreteGPU else { return }
    let buffer = try device.makeBuffer(byteCount: 64)
    let pointer = try #require(buffer.hostPointer)
    try [UInt8](repeating: 9, count: 64).withUnsafeBytes { try buffer.write($0, at: 0) }
    #expect(pointer.load(fromByteOffset: 63, as: UInt8.self) == 9)
  }

  @Test func hugeBufferIsRefusedWithATypedError() {
    for byteCount in [-1, 1 << 45] {
      #expect { try device.makeBuffer(byteCount: byteCount) } throws: { error in
        (error as? DeviceError)?.code == .outOfMemory
      }
    }
  }

  @Test func slicesInsideBuffersAreReadAndWritten() throws {
    let (graph, input, expected) = try chain()
    let executable = try device.compile(segment(graph))
    let memory = try device.makeBuffer(byteCount: 1 << 16)
    let (x, y) = (graph[graph.inputs[0]].type, graph[graph.outputs[0]].type)
    let inputSlice = BufferSlice(memory, offset: 4096, byteCount: x.byteCount)
    let outputSlice = BufferSlice(memory, offset: 512, byteCount: y.byteCount)
    let scratch = BufferSlice(
      try device.makeBuffer(byteCount: executable.scratchByteCount + 768), offset: 768,
      byteCount: executable.scratchByteCount)
    let invocation = try executable.bind(Bindings(inputs: [inputSlice], outputs: [outputSlice], scratch: scratch))
    try invocation.completion.wait()
    for _ in 0..<3 {
      try input.bytes.withUnsafeBytes { try inputSlice.write($0) }
      try invocation.submit()
      try invocation.completion.wait()
      let result = Tensor(y, try Bytes(count: y.byteCount) { try outputSlice.read(into: $0) })
      #expect(graph.tolerance(.full).difference(of: result, from: expected) == nil)
    }
    #expect(invocation.nodeTimings.isEmpty)
  }

  @Test func foreignOrShortMemoryIsRefused() throws {
    let (graph, _, _) = try chain()
    let executable = try device.compile(segment(graph))
    let (x, y) = (graph[graph.inputs[0]].type.byteCount, graph[graph.outputs[0]].type.byteCount)
    func slice(_ buffer: any Buffer) -> BufferSlice { BufferSlice(buffer, offset: 0, byteCount: buffer.byteCount) }
    let scratch = slice(try device.makeBuffer(byteCount: executable.scratchByteCount))
    let output = slice(try device.makeBuffer(byteCount: y))
    for bindings in [
      Bindings(inputs: [slice(try HostBuffer(byteCount: x))], outputs: [output], scratch: scratch),
      Bindings(inputs: [slice(try device.makeBuffer(byteCount: x - 4))], outputs: [output], scratch: scratch),
      Bindings(inputs: [slice(try device.makeBuffer(byteCount: x))], outputs: [output], scratch: nil),
    ] {
      #expect { try executable.bind(bindings) } throws: { ($0 as? DeviceError)?.code == .execution }
    }
  }

  @Test func nodesAreTimedByTheDeviceClock() throws {
    let (graph, input, _) = try chain()
    let timings = try device.run(graph, [input], measuresNodes: true).timings
    #expect(timings.map(\.node) == graph.nodes.map(\.name))
    #expect(timings.allSatisfy { $0.seconds >= 0 && $0.start >= 0 && $0.clock == .device })
    #expect(zip(timings, timings.dropFirst()).allSatisfy { $0.start + $0.seconds <= $1.start + 1e-9 })
    #expect(timings.contains { $0.seconds > 0 })
  }

  @Test func weightsArePackedOnceForAllExecutables() throws {
    let (graph, input, expected) = try chain()
    let weights = CountingWeights()
    let first = try device.compile(segment(graph, weights: weights))
    let count = weights.fills
    #expect(count > 0)
    let second = try device.run(graph, [input], weights: weights).outputs[0]
    #expect(weights.fills == count)
    #expect(graph.tolerance(.full).difference(of: second, from: expected) == nil)
    _ = first
  }

  /// A copy of them would take as much memory again; a device that makes one lets go of them.
  @Test func softwareDriverReadsPackedWeightsInPlace() throws {
    let (graph, input, expected) = try chain(channels: 2048)
    let large = 2048 * 6 * 3 * 3 * 4
    for device in present + (Tier.isSlow ? imitated : []) {
      let weights = MemoryPackedWeights()
      let executable = try device.compile(segment(graph, weights: weights))
      #expect(device.readsHostMemory ? weights.footprint.byteCount >= large : weights.footprint.byteCount == 0)
      let result = try device.run(graph, [input], weights: weights).outputs[0]
      #expect(graph.tolerance(.full).difference(of: result, from: expected) == nil)
      withExtendedLifetime(executable) {}
    }
  }

  /// It may be cut short while a driver's threads read it, which block the signal that says so.
  @Test func weightsOfAMappedFileAreCopied() throws {
    let (graph, input, expected) = try chain(channels: 2048)
    for device in present {
      let weights = MappedWeights()
      let executable = try device.compile(segment(graph, weights: weights))
      #expect(weights.count > 0 && weights.mapped == 0)
      let result = try device.run(graph, [input], weights: weights).outputs[0]
      #expect(graph.tolerance(.full).difference(of: result, from: expected) == nil)
      withExtendedLifetime(executable) {}
    }
  }

  @Test func llvmpipeReadsHostMemoryUnlessImitatingHardware() {
    #expect(present.allSatisfy { !$0.info.driver.hasPrefix("llvmpipe") || $0.readsHostMemory })
    #expect(imitated.allSatisfy { $0.info.kind == .software || !$0.readsHostMemory })
  }

  /// A card's driver that reads and writes 16 bits; software drivers keep float32, which they read faster.
  @Test(.enabled(if: storesHalves, wordsAlone)) func float16WeightsTakeHalfTheDeviceMemory() throws {
    let card = try #require(imitated.first)
    var byteCounts: [Int] = []
    for scalar in [ScalarType.float32, .float16] {
      let (graph, input, expected) = try chain(of: scalar)
      let weights = CountingWeights()
      let result = try card.run(graph, [input], weights: weights).outputs[0]
      #expect(graph.tolerance(.full).difference(of: result, from: expected) == nil)
      byteCounts.append(weights.byteCount)
    }
    #expect(Double(byteCounts[1]) <= 0.55 * Double(byteCounts[0]))
  }

  @Test(.enabled(if: storesHalves, wordsAlone)) func weightsStoredAsFloat16TakeHalfTheMemory() throws {
    let card = try #require(imitated.first)
    let (graph, input, _) = try chain()
    var stored = graph
    for index in graph.values.indices {
      stored.values[index].weight = try graph.values[index].weight?.converted(to: .float16).converted(to: .float32)
    }
    let byteCounts = try [graph, stored].map { graph in
      let weights = CountingWeights()
      let result = try card.run(graph, [input], weights: weights).outputs[0]
      let expected = try ReferenceDevice().run(graph, [input]).outputs[0]
      #expect(graph.tolerance(.full).difference(of: result, from: expected) == nil)
      return weights.byteCount
    }
    // Biases are float32.
    #expect(Double(byteCounts[1]) <= 0.6 * Double(byteCounts[0]))
  }

  /// Under names of their own: weights of both precisions live in one store.
  @Test(.enabled(if: storesHalves, wordsAlone)) func lowPrecisionWeightsTakeHalfTheMemory() throws {
    let card = try #require(imitated.first)
    let (graph, input, expected) = try chain()
    let weights = CountingWeights()
    var byteCounts: [Int] = []
    for precision in [Precision.full, .low] {
      let before = weights.byteCount
      let result = try card.run(graph, [input], precision: precision, weights: weights).outputs[0]
      #expect(graph.tolerance(precision).difference(of: result, from: expected) == nil)
      #expect(card.effectivePrecision(precision, of: graph.nodes[0], in: graph) == precision)
      byteCounts.append(weights.byteCount - before)
    }
    #expect(Double(byteCounts[1]) <= 0.55 * Double(byteCounts[0]))
    let software = present[0]
    #expect(software.effectivePrecision(.low, of: graph.nodes[0], in: graph) == .full)
    let exact = try software.run(graph, [input]).outputs[0]
    #expect(try software.run(graph, [input], precision: .low).outputs[0].floats == exact.floats)
  }

  /// Its kernels are those of float16.
  @Test(.enabled(if: storesHalves, wordsAlone)) func float16SelfTestsCoverLowPrecision() throws {
    let card = try #require(imitated.first)
    let (graph, _, _) = try chain()
    for (precision, other) in [(Precision.low, " of float16"), (.full, "")] {
      let trust = KernelTrust(driver: "", identity: "\(precision)")
      trust.examine(graph, precision, on: card, against: ReferenceDevice(), blobs: NoBlobCache())
      #expect(trust.faults == [])
      let kinds = [
        "convolution", "convolution by staged tiles", "convolution output by output", "depthwise convolution", "binary",
        "reduce", "reduce by groups", "reduce by groups in blocks", "copies", "blocks",
      ]
      // Values stored as float16 are not computed in rectangles.
      let wide = precision == .full ? ["convolution by rectangles"] : []
      let isNarrow = precision == .low && card.multipliesHalves && !card.multipliesMatrices
      let narrow = isNarrow ? ["convolution by staged tiles in float16 of float16"] : []
      let isWider = card.multipliesMatrices && precision == .low
      let matrices = isWider ? ["convolution by cooperative matrices of float16"] : []
      #expect(
        trust.examined
          == Set(
            kinds.map { $0 + other } + wide + narrow + matrices + (precision == .low ? ["float16"] : [])))
    }
  }

  /// A product of float32 values at low precision, stored as float16, whose depth several groups share.
  private func deepProduct(_ card: VulkanDevice, x: (Int) -> Float, weight: (Int) -> Float) throws
    -> (result: [Float], exact: [Float], shaders: Set<String>)
  {
    let (rows, depth, columns) = (19, 576, 36)
    var graph = Graph()
    let types = [TensorType(.float32, [rows, depth]), TensorType(.float32, [columns, depth])]
    let input = graph.addValue(Value(name: "x", type: types[0]))
    let weights = Tensor((0..<columns * depth).map(weight), types[1].shape)
    let constant = graph.addValue(Value(name: "weights", type: types[1], weight: Weight(weights)))
    let output = graph.addValue(Value(name: "y", type: TensorType(.float32, [rows, columns])))
    graph.nodes = [Node(name: "product", op: Linear(), inputs: [input, constant], outputs: [output], origins: [])]
    (graph.inputs, graph.outputs) = ([input], [output])
    try graph.verify()
    let values = Tensor((0..<rows * depth).map(x), types[0].shape)
    let segment = Segment(
      graph: graph, precision: .low, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(),
      blobs: NoBlobCache())
    return (
      try card.run(graph, [values], precision: .low).outputs[0].floats,
      try ReferenceDevice().run(graph, [values]).outputs[0].floats, try card.shaders(of: segment)
    )
  }

  @Test(.enabled(if: multipliesHalves, wordsAlone))
  func lowPrecisionMultipliesInFloat16() throws {
    for card in cards {
      let product = try deepProduct(
        card, x: { Float($0 * 29 % 31) / 16 - 1 }, weight: { Float($0 * 37 % 41) / 64 - 0.3 })
      #expect(product.shaders.contains { $0.contains("_narrow") || $0.contains("_cooperative") }, "\(product.shaders)")
      let largest = product.exact.map(\.magnitude).max() ?? 0
      for (result, exact) in zip(product.result, product.exact) { #expect(abs(result - exact) <= 0.004 * largest) }
    }
  }

  /// Partial sums of 128,000 cancel to small results.
  @Test(.enabled(if: multipliesHalves, wordsAlone))
  func sumsThatLeaveTheRangeOfFloat16AreComputedInFloat32() throws {
    for card in cards {
      let product = try deepProduct(
        card, x: { $0 % 576 == 575 ? 3 : 2000 }, weight: { $0 % 576 == 575 ? 5 : $0 % 16 < 8 ? 8 : -8 })
      // The last weight is not among those that cancel.
      #expect(product.exact.allSatisfy { $0 == 16015 })
      #expect(product.result.allSatisfy { abs($0 - 16015) <= 8 }, "\(product.result.prefix(4))")
    }
  }

  /// A mask hides elements even beyond float16's range, and a completely masked row has the shares of all elements.
  @Test func masksBeyondFloat16StillHideAtLowPrecision() throws {
    let card = try #require(imitated.first)
    var graph = Graph()
    let scores = graph.addValue(Value(name: "scores", type: TensorType(.float32, [2, 4])))
    let given = graph.addValue(Value(name: "given", type: TensorType(.float32, [2, 4])))
    let masks = Tensor([Float(0), -1e9, 0, -3.4e38, -3.4e38, -3.4e38, -3.4e38, -3.4e38], [2, 4])
    let constant = graph.addValue(Value(name: "mask", type: masks.type, weight: Weight(masks)))
    for (name, mask) in [("constant", constant), ("given", given)] {
      let masked = graph.addValue(Value(name: "masked \(name)", type: masks.type))
      let shares = graph.addValue(Value(name: "shares \(name)", type: masks.type))
      graph.nodes += [
        Node(name: "add \(name)", op: Binary(.add), inputs: [scores, mask], outputs: [masked], origins: []),
        Node(name: "softmax \(name)", op: Softmax(axis: 1), inputs: [masked], outputs: [shares], origins: []),
      ]
      graph.outputs.append(shares)
    }
    graph.inputs = [scores, given]
    try graph.verify()
    let elements = Tensor((0..<8).map { Float($0 % 4 + 1) }, [2, 4])
    for shares in try card.run(graph, [elements, masks], precision: .low).outputs.map(\.floats) {
      #expect(shares[1] == 0 && shares[3] == 0 && abs(shares[0] - 0.1192) < 1e-3 && abs(shares[2] - 0.8808) < 1e-3)
      #expect(shares[4...].allSatisfy { $0 == 0.25 })
    }
  }

  @Test func manyThreadsMaySubmit() async throws {
    let (graph, input, expected) = try chain()
    let device = device
    try await withThrowingTaskGroup(of: Tensor.self) { group in
      for _ in 0..<4 { group.addTask { try device.run(graph, [input]).outputs[0] } }
      for try await result in group {
        #expect(graph.tolerance(.full).difference(of: result, from: expected) == nil)
      }
    }
  }

  @Test func invocationsRunInOrder() throws {
    var graph = Graph()
    let x = graph.addValue(Value(name: "x", type: TensorType(.float32, [1, 8, 5, 5])))
    let y = graph.addValue(Value(name: "y", type: TensorType(.float32, [1, 8, 5, 5])))
    let origin = Origin(name: "double", kind: "test", index: 0)
    graph.nodes = [
      Node(name: "double", op: Unary(UnaryFunction(.affine, a: 2)), inputs: [x], outputs: [y], origins: [origin])
    ]
    (graph.inputs, graph.outputs) = ([x], [y])
    let executable = try device.compile(segment(graph))
    let slices = try (0..<3).map { _ in BufferSlice(try device.makeBuffer(byteCount: 800), offset: 0, byteCount: 800) }
    let first = try executable.bind(Bindings(inputs: [slices[0]], outputs: [slices[1]], scratch: nil))
    let second = try executable.bind(Bindings(inputs: [slices[1]], outputs: [slices[2]], scratch: nil))
    try [Float](repeating: 1.5, count: 200).withUnsafeBytes { try slices[0].write($0) }
    try first.submit()
    try second.submit()
    try second.completion.wait()
    var result = [Float](repeating: 0, count: 200)
    try result.withUnsafeMutableBytes { try slices[2].read(into: $0) }
    #expect(result.allSatisfy { $0 == 6 })
  }

  @Test(arguments: Tier.some(2, of: ["none", "flipped", "empty", "truncated", "foreign"]))
  func damagedPipelineCacheIsReplaced(_ damage: String) throws {
    let (graph, input, expected) = try chain()
    let kept = KeepingBlobs()
    _ = try fresh().run(graph, [input], blobs: kept)
    guard let key = kept.keys.first else {
      #expect(try fresh().info.driver.contains("Mesa 26"), "no driver but this one keeps its cache itself")
      return
    }
    let stored = try #require(kept.blob(key)).withUnsafeBytes { Array($0) }
    #expect(kept.keys.count == 1 && stored.count > 20)
    var bytes = stored
    switch damage {
    case "empty": bytes = []
    case "truncated": bytes.removeLast(7)
    case "flipped": bytes[bytes.count - 1] ^= 0x40
    case "foreign": bytes = Array("another driver's cache, and longer than its header".utf8)
    default: break
    }
    let given = KeepingBlobs()
    bytes.withUnsafeBytes { given.store(key, $0) }
    let result = try fresh().run(graph, [input], blobs: given).outputs[0]
    #expect(graph.tolerance(.full).difference(of: result, from: expected) == nil)
    let after = try #require(given.blob(key)).withUnsafeBytes { Array($0) }
    // Some drivers write another cache each time, also where they were given one.
    let isKept = damage == "none" && after == stored
    #expect(given.stores == (isKept ? 1 : 2) && after.count > 20)
  }

  @Test func unsupportedTypeIsNamed() throws {
    var graph = Graph()
    let x = graph.addValue(Value(name: "x", type: TensorType(.float64, [4])))
    let y = graph.addValue(Value(name: "y", type: TensorType(.float64, [4])))
    graph.nodes = [Node(name: "n", op: Unary(.relu), inputs: [x], outputs: [y], origins: [])]
    #expect(device.support(for: graph.nodes[0], in: graph, precision: .full) == .unsupported("float64 values"))
  }

  private func fresh() throws -> any Device {
    let options = VulkanOptions(validates: watches)
    return try #require(VulkanDevice.discover(options: options).compactMap(\.device).first)
  }

  private func segment(_ graph: Graph, weights: any PackedWeights = MemoryPackedWeights()) -> Segment {
    Segment(
      graph: graph, precision: .full, threads: 1, isDeterministic: true, weights: weights, blobs: NoBlobCache())
  }

  /// Two convolutions and a sum, with the reference's answer.
  private func chain(of scalar: ScalarType = .float32, channels: Int = 13) throws -> (Graph, Tensor, Tensor) {
    var random = SeededGenerator(seed: 5)
    var graph = Graph()
    func weight(_ name: String, _ shape: Shape) -> ValueID {
      let tensor = Tensor.random(scalar, shape, -1...1, &random)
      return graph.addValue(Value(name: name, type: tensor.type, weight: Weight(tensor)))
    }
    let input = Tensor.random(scalar, [1, 6, 9, 7], -1...1, &random)
    let x = graph.addValue(Value(name: "x", type: input.type))
    graph.inputs = [x]
    func add(_ name: String, _ op: any Operator, _ inputs: [ValueID]) throws -> ValueID {
      let output = graph.addValue(Value(name: name, type: try op.infer(graph.types(inputs))[0]))
      let origin = Origin(name: name, kind: op.name, index: 0)
      graph.nodes.append(Node(name: name, op: op, inputs: inputs, outputs: [output], origins: [origin]))
      return output
    }
    let window = Window(kernel: [3, 3], before: [1, 1])
    let a = try add(
      "first", Convolution(window: window, epilogue: .bias),
      [x, weight("w1", [channels, 6, 3, 3]), weight("b1", [channels])])
    let b = try add(
      "second", Convolution(window: window, groups: channels), [a, weight("w2", [channels, 1, 3, 3])])
    let c = try add("sum", Binary(.add), [a, b])
    graph.outputs = [try add("flat", Reduce(.mean, axes: [2, 3], keepsDimensions: false), [c])]
    try graph.verify()
    return (graph, input, try ReferenceDevice().run(graph, [input]).outputs[0])
  }
}

/// Counts how often a weight had to be packed, and how many bytes.
private final class CountingWeights: PackedWeights {
  private let inner = MemoryPackedWeights()
  private let counter = Mutex(0)
  private let bytes = Mutex(0)

  var fills: Int { counter.withLock { $0 } }
  /// Of all that was packed.
  var byteCount: Int { bytes.withLock { $0 } }

  func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    try inner.packed(key, byteCount: byteCount) { target throws(DeviceError) in
      counter.withLock { $0 += 1 }
      bytes.withLock { $0 += target.count }
      try fill(target)
    }
  }
}

/// Keeps large weights in mapped files, as long as somebody else reads them.
private final class MappedWeights: PackedWeights {
  private let inner = MemoryPackedWeights()
  private let files = Mutex<[Bytes.Unowned]>([])

  var count: Int { files.withLock { $0.count } }
  /// The number of mapped files.
  var mapped: Int { files.withLock { $0.count { $0.bytes != nil } } }

  func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes {
    let bytes = try inner.packed(key, byteCount: byteCount, fill: fill)
    guard byteCount >= 1 << 18 else { return bytes }
    let path = "\(FileManager.default.temporaryDirectory.path)/kelvin-mapped-\(UInt64.random(in: 0 ..< .max))"
    let contents = bytes.withUnsafeBytes { Data($0) } + Data(count: packedRoom)
    guard FileManager.default.createFile(atPath: path, contents: contents), let file = try? Bytes(mapping: path),
      let mapped = file.slice(offset: 0, count: byteCount)
    else { preconditionFailure("\(path) cannot be written") }
    try? FileManager.default.removeItem(atPath: path)
    files.withLock { $0.append(Bytes.Unowned(mapped)) }
    return mapped
  }
}

/// A cache in memory that counts what is stored.
private final class KeepingBlobs: BlobCache {
  private let state = Mutex<(blobs: [String: Bytes], stores: Int)>(([:], 0))

  var keys: [String] { state.withLock { Array($0.blobs.keys) } }
  var stores: Int { state.withLock { $0.stores } }

  func blob(_ key: String) -> Bytes? { state.withLock { $0.blobs[key] } }

  func store(_ key: String, _ bytes: UnsafeRawBufferPointer) {
    let copy = Bytes(copying: bytes)
    state.withLock { state in
      state.blobs[key] = copy
      state.stores += 1
    }
  }
}

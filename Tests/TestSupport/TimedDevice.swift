package import KelvinDevices
package import KelvinGraph
package import KelvinMeasurements
import KelvinReference
package import KelvinRuntime
import Synchronization

/// A clock that advances only when told to.
package final class VirtualClock: MeasurementClock {
  private let time = Mutex(0.0)

  package init() {}

  package func now() -> Double { time.withLock { $0 } }
  package func sleep(until deadline: Double) { time.withLock { $0 = max($0, deadline) } }
  package func advance(by seconds: Double) { time.withLock { $0 += seconds } }
}

/// Computes as the reference does, and takes the scripted time on a virtual clock.
package final class TimedDevice: Device {
  package let info: DeviceInfo
  package let health = DeviceHealth()
  package let clock: VirtualClock
  package let seconds: @Sendable (Node) -> Double
  /// Seconds of each submission beyond its nodes.
  package let overhead: Double
  /// Seconds that the timer of a node takes, beside the node's own.
  package let timer: Double
  /// Whether the next submission fails, as on a lost device.
  package let fails: @Sendable () -> Bool
  /// The costs of copies from and to its memory; nil for memory that the host addresses.
  package let copies: Copies?
  private let refuses: @Sendable (Node) -> Bool
  /// Whether it has kernels of less than float32 for every node.
  private let hasLowPrecision: Bool
  private let reference = ReferenceDevice()

  package struct Copies: Sendable {
    /// Seconds of a copy that is a submission of its own, beyond its bytes.
    let latency: Double
    let bytesPerSecond: Double

    package init(latency: Double, bytesPerSecond: Double) {
      self.latency = latency
      self.bytesPerSecond = bytesPerSecond
    }
  }

  package init(
    _ id: String, kind: DeviceInfo.Kind, clock: VirtualClock, overhead: Double = 0, timer: Double = 0,
    copies: Copies? = nil,
    refuses: @escaping @Sendable (Node) -> Bool = { _ in false }, hasLowPrecision: Bool = false,
    fails: @escaping @Sendable () -> Bool = { false }, seconds: @escaping @Sendable (Node) -> Double
  ) {
    info = DeviceInfo(
      id: id, name: "timed \(id)", kind: kind, driver: "test", version: "1", memory: 1 << 30,
      resource: kind == .cpu ? "cpu" : id)
    self.clock = clock
    self.overhead = overhead
    self.copies = copies
    self.timer = timer
    self.refuses = refuses
    self.hasLowPrecision = hasLowPrecision
    self.fails = fails
    self.seconds = seconds
  }

  package func support(for node: Node, in graph: Graph, precision: Precision) -> Support {
    refuses(node) ? .unsupported("it refuses \(node.name)") : .supported
  }

  package func effectivePrecision(_ precision: Precision, of node: Node, in graph: Graph) -> Precision {
    hasLowPrecision && precision == .low ? .low : .full
  }

  package func compile(_ segment: Segment) throws(DeviceError) -> any Executable {
    clock.advance(by: 0.001)
    return TimedExecutable(self, segment.graph, try reference.compile(segment))
  }

  package func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer {
    let memory = try HostBuffer(byteCount: byteCount)
    return copies.map { TimedBuffer(memory, clock, $0) } ?? memory
  }
}

/// Memory that the host cannot address. Its copies are submissions of their own.
private final class TimedBuffer: Buffer {
  let memory: HostBuffer
  private let clock: VirtualClock
  private let copies: TimedDevice.Copies
  var byteCount: Int { memory.byteCount }
  var hostPointer: UnsafeMutableRawPointer? { nil }

  init(_ memory: HostBuffer, _ clock: VirtualClock, _ copies: TimedDevice.Copies) {
    self.memory = memory
    self.clock = clock
    self.copies = copies
  }

  func write(_ source: UnsafeRawBufferPointer, at offset: Int) {
    memory.write(source, at: offset)
    clock.advance(by: copies.latency + Double(source.count) / copies.bytesPerSecond)
  }

  func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) {
    memory.read(into: target, at: offset)
    clock.advance(by: copies.latency + Double(target.count) / copies.bytesPerSecond)
  }
}

private final class TimedExecutable: Executable {
  let device: TimedDevice
  let nodes: [Node]
  let inner: any Executable
  var scratchByteCount: Int { inner.scratchByteCount }

  init(_ device: TimedDevice, _ graph: Graph, _ inner: any Executable) {
    self.device = device
    nodes = graph.nodes
    self.inner = inner
  }

  func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation {
    func addressed(_ slice: BufferSlice) -> BufferSlice {
      guard let buffer = slice.buffer as? TimedBuffer else { return slice }
      return BufferSlice(buffer.memory, offset: slice.offset, byteCount: slice.byteCount)
    }
    var own = bindings
    own.inputs = bindings.inputs.map(addressed)
    own.outputs = bindings.outputs.map(addressed)
    own.scratch = bindings.scratch.map(addressed)
    return try TimedInvocation(self, try inner.bind(own), own)
  }
}

private final class TimedInvocation: Invocation {
  let executable: TimedExecutable
  let inner: any Invocation
  let measures: Bool
  /// The costs of the latest submission.
  private var costs: [(name: String, seconds: Double)] = []
  private(set) var stagedInputs: [Int: BufferSlice] = [:]
  private(set) var stagedOutputs: [Int: BufferSlice] = [:]
  private let bindings: Bindings
  var completion: any Event { inner.completion }

  init(_ executable: TimedExecutable, _ inner: any Invocation, _ bindings: Bindings) throws(DeviceError) {
    self.executable = executable
    self.inner = inner
    self.bindings = bindings
    measures = bindings.measuresNodes
    guard executable.device.copies != nil else { return }
    for index in bindings.hostInputs { stagedInputs[index] = try Self.staging(bindings.inputs[index]) }
    for index in bindings.hostOutputs { stagedOutputs[index] = try Self.staging(bindings.outputs[index]) }
  }

  private static func staging(_ slice: BufferSlice) throws(DeviceError) -> BufferSlice {
    BufferSlice(try HostBuffer(byteCount: slice.byteCount), offset: 0, byteCount: slice.byteCount)
  }

  private func copy(_ source: BufferSlice, to target: BufferSlice) throws(DeviceError) {
    try target.write(UnsafeRawBufferPointer(start: source.hostPointer, count: source.byteCount))
    let rate = executable.device.copies?.bytesPerSecond ?? .infinity
    executable.device.clock.advance(by: Double(source.byteCount) / rate)
  }

  func submit() throws(DeviceError) {
    guard !executable.device.fails() else {
      throw DeviceError(.lost, device: executable.device.info.id, place: "submission", reason: "the card is gone")
    }
    for (index, staging) in stagedInputs { try copy(staging, to: bindings.inputs[index]) }
    try inner.submit()
    for (index, staging) in stagedOutputs { try copy(bindings.outputs[index], to: staging) }
    costs = executable.nodes.map { ($0.name, executable.device.seconds($0)) }
    let timers = measures ? executable.device.timer * Double(costs.count) : 0
    executable.device.clock.advance(by: costs.reduce(executable.device.overhead + timers) { $0 + $1.seconds })
  }

  var nodeTimings: [NodeTiming] {
    guard measures else { return [] }
    var start = 0.0
    return costs.map { cost in
      defer { start += cost.seconds }
      return NodeTiming(node: cost.name, start: start, seconds: cost.seconds, clock: .device)
    }
  }
}

/// An empty folder: no sensors and no counters, so that this machine has no influence.
package let noFiles = SystemFiles(root: "/nonexistent/")

/// x → relu → exp → tanh, four elements wide.
package func chain(_ clock: VirtualClock, devices: [any Device]) throws -> ModelContext {
  var builder = GraphBuilder(evaluator: ReferenceEvaluator())
  var value = try builder.input("x", TensorType(.float32, [1, 4]))
  for (index, function) in [UnaryFunction.relu, UnaryFunction(.exp), UnaryFunction(.tanh)].enumerated() {
    let origin = Origin(name: "layer \(index)", kind: "Test", index: index)
    value = try builder.add(Unary(function), [value], name: "layer \(index)", origin: origin)[0]
  }
  var graph = builder.graph
  graph.outputs = [value]
  let listings = (devices + [ReferenceDevice()]).map { DeviceListing($0) }
  return ModelContext(
    name: "chain.onnx", key: ContentKey(["chain"]), function: "main", graph: graph,
    inventory: DeviceInventory(listings), cache: nil, costs: CostSheet())
}

package let chainInputs = [Tensor([0.1, -0.2, 0.3, 0.4], [1, 4])]

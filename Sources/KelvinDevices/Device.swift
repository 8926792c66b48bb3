package import KelvinGraph

/// A device that runs nodes. A device is immutable after its creation and can be used from any thread.
///
/// The life of a model on a device: `support` says which nodes it can run. `compile` converts a segment of nodes into
/// an immutable `Executable` and packs weights. `Executable.bind` records an `Invocation` on a session's buffers.
/// `Invocation.submit` runs it, without allocating or recording anything.
///
/// At the boundary of a segment every value is dense, row-major and in the graph's element type. Inside a segment,
/// the device chooses layouts.
package protocol Device: AnyObject, Sendable {
  var info: DeviceInfo { get }

  /// The health of the device, shared by all its users.
  var health: DeviceHealth { get }

  /// Whether this device runs a node; planner, tests and documentation all rely on this function. A node with a body
  /// is supported if its whole body is.
  func support(for node: Node, in graph: Graph, precision: Precision) -> Support

  /// Returns the precision in which this device computes a node when `precision` is requested; it is never lower.
  /// Requests with the same result use the same kernels and take the same time. Caches therefore store data of a node
  /// under the result, never under the request.
  func effectivePrecision(_ precision: Precision, of node: Node, in graph: Graph) -> Precision

  /// Returns the work of a node for an estimate of its time. A device counts more operations or bytes than the node has
  /// if its kernel is slower than products and memory, and fewer if the kernel saves some.
  func work(of node: Node, in graph: Graph) -> Work

  /// The rates of the units that multiply and add; empty for a device that does not measure them.
  var productRates: [ProductRate] { get }

  /// Tells the device where it may keep what it measures of itself, for later processes.
  func recall(_ blobs: any BlobCache)

  /// The reason why a unit that multiplies and adds is not used, although the processor has it; else nil.
  var productFault: String? { get }

  /// Returns how many times as fast as at `.full` the device multiplies at a precision.
  func productSpeedup(at precision: Precision) -> Double

  /// Returns the bytes that the device keeps for the constants of a node, as it packs them, by key. Nodes share the memory
  /// of equal keys. A node is packed as if it were alone: neighbours and timing may lead to another layout.
  ///
  /// - Returns: nil for a device that keeps about the bytes of the graph.
  func packedByteCounts(of node: Node, in graph: Graph, precision: Precision) -> [String: Int]?

  /// The verdicts on the device's driver; nil if there is no driver to test.
  var trust: KernelTrust? { get }

  /// Whether the host can read the results of a submission while later ones run.
  var isReadWhileBusy: Bool { get }

  /// Whether the device can copy the weights of a segment's nodes from the host before each use (`Segment.streamed`).
  var streamsWeights: Bool { get }

  /// The bytes of device memory that this process can still allocate; nil if unknown.
  var freeMemory: Int? { get }

  /// Compiles a segment whose nodes this device supports.
  func compile(_ segment: Segment) throws(DeviceError) -> any Executable

  /// Creates memory for boundary values and scratch; its start is aligned to `bufferAlignment`.
  func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer

  /// Creates memory for scratch only, which the host need not address.
  func makeScratch(byteCount: Int) throws(DeviceError) -> any Buffer
}

extension Device {
  /// Suits a device that always computes in float32.
  package func effectivePrecision(_ precision: Precision, of node: Node, in graph: Graph) -> Precision { .full }

  package func work(of node: Node, in graph: Graph) -> Work { graph.work(of: node) }

  package var productRates: [ProductRate] { [] }

  package func recall(_ blobs: any BlobCache) {}

  package var productFault: String? { nil }

  package func productSpeedup(at precision: Precision) -> Double { 1 }

  package func packedByteCounts(of node: Node, in graph: Graph, precision: Precision) -> [String: Int]? { nil }

  package var trust: KernelTrust? { nil }

  package var isReadWhileBusy: Bool { true }

  package var streamsWeights: Bool { false }

  /// Suits a device whose driver does not report the memory that is in use.
  package var freeMemory: Int? { unheldMemory }

  /// The device's memory without the bytes that this process holds; other processes may hold some of it.
  package var unheldMemory: Int? { info.memory > 0 ? max(0, info.memory - health.heldByteCount) : nil }

  /// Suits a device that has a single kind of memory.
  package func makeScratch(byteCount: Int) throws(DeviceError) -> any Buffer { try makeBuffer(byteCount: byteCount) }
}

/// The number of nodes whose streamed weights are on a device at once (`Segment.streamed`).
package let streamPlaces = 2

/// The alignment of slices: their offsets inside a buffer are multiples of this many bytes.
package let bufferAlignment = 256

/// Whether a device can run a node.
package enum Support: Hashable, Sendable {
  case supported
  /// The reason completes "unsupported on vulkan:0: …".
  case unsupported(String)

  package var isSupported: Bool { self == .supported }
}

/// A connected group of nodes that is compiled as a unit.
package struct Segment: Sendable {
  /// The segment's nodes; inputs and outputs are the values that cross its boundary.
  package var graph: Graph
  package var precision: Precision
  /// The number of threads that a CPU device may use.
  package var threads: Int
  /// Whether choices by timing are forbidden, so that results are bit-identical across runs.
  package var isDeterministic: Bool
  /// Which kernels may be chosen by timing otherwise.
  package var tuning: KernelTuning
  package var weights: any PackedWeights
  package var blobs: any BlobCache
  /// The expected seconds of nodes by name; unknown ones are missing.
  package var expectedSeconds: [String: Double]
  /// The names of the nodes whose weights a device that `streamsWeights` copies from the host before each use; another
  /// device keeps them.
  package var streamed: Set<String>
  /// The implementation (`KernelOffer.key`) to use for a node, by node name, if the device has it.
  package var implementations: [String: String]
  package var watchdog: Watchdog
  /// Called when all of the segment's weights are packed.
  package var didPack: @Sendable () -> Void
  /// Receives the compiled share of the segment, 0…1; returns whether to continue.
  private let goesOn: @Sendable (Double) -> Bool

  package init(
    graph: Graph, precision: Precision, threads: Int, isDeterministic: Bool, weights: any PackedWeights,
    blobs: any BlobCache, tuning: KernelTuning = KernelTuning(.off), expectedSeconds: [String: Double] = [:],
    implementations: [String: String] = [:], streamed: Set<String> = [], watchdog: Watchdog = .standard,
    didPack: @escaping @Sendable () -> Void = {},
    goesOn: @escaping @Sendable (Double) -> Bool = { _ in true }
  ) {
    self.didPack = didPack
    self.expectedSeconds = expectedSeconds
    self.implementations = implementations
    self.streamed = streamed
    self.watchdog = watchdog
    self.goesOn = goesOn
    self.graph = graph
    self.precision = precision
    self.threads = threads
    self.isDeterministic = isDeterministic
    self.tuning = tuning
    self.weights = weights
    self.blobs = blobs
  }
}

extension Segment {
  /// The seconds that one run may take.
  package var limit: Double { watchdog.limit(expecting: expectedSeconds.values.reduce(0, +)) }

  /// Called by a device before it compiles each node, to report progress and to check for cancellation.
  ///
  /// - Throws: `.cancelled` if the compilation was cancelled.
  package func begin(node: Int, of count: Int, device: String) throws(DeviceError) {
    try goOn(device: device, at: Double(node) / Double(max(count, 1)))
  }

  /// Called before lengthy work other than compiling a node.
  ///
  /// - Throws: `.cancelled` if the compilation was cancelled.
  func goOn(device: String, at fraction: Double = 0) throws(DeviceError) {
    DriverThread.beat()
    guard goesOn(fraction) else {
      throw DeviceError(.cancelled, device: device, place: "compilation", reason: "cancelled")
    }
  }
}

/// The number of readable bytes after a weight that was packed in this process: room for rounded-up sizes.
package let packedRoom = 3 * bufferAlignment

/// The names of packed layouts, after the name of the weight in a key.
package enum PackedLayout {
  /// The beginning of a layout that keeps the codes of a compressed weight, in about the bytes of the model's file.
  package static let codes = "codes"
}

/// A store of packed weights: shared by all shapes and sessions of a model, and by later processes through the
/// compiled cache.
package protocol PackedWeights: AnyObject, Sendable {
  /// Returns the packed weight stored under `key`, aligned to a page; `fill` makes it at its first use.
  /// `Bytes.widened` includes the readable bytes after it.
  ///
  /// - Parameters:
  ///   - key: identifies the weight, the layout and the element type, and is equal on every run:
  ///     `conv1_weight/gemm-f32-16`. Packed weights of several precisions coexist, and kernels with the same layout
  ///     share one. The key must contain everything that the bytes depend on besides the weight, since nodes may read
  ///     one weight in several shapes.
  ///   - byteCount: the packed size.
  ///   - fill: writes every byte. It reads the model's weights; no other code in `compile` does.
  func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes

  /// Called when everything that the segments of a compiled model need has been requested, so that storing can begin.
  func didPackAll()

  /// The memory of everything requested so far.
  var footprint: PackedFootprint { get }
}

extension PackedWeights {
  package func didPackAll() {}
  package var footprint: PackedFootprint { PackedFootprint() }
}

extension DeviceError {
  /// Returns the error for a stored weight whose size differs from the requested one.
  ///
  /// - Parameters:
  ///   - expected: the bytes of the requested layout.
  ///   - got: the bytes that were found.
  package static func otherForm(of key: String, expected: Int, got: Int, device: String) -> DeviceError {
    DeviceError(
      .compilation, device: device, place: "weight '\(key)'",
      reason: "expected \(expected) packed bytes, got \(got); clear the cache")
  }
}

/// The memory of packed weights.
package struct PackedFootprint: Hashable, Sendable {
  package var byteCount: Int
  /// The bytes of these that were made from compressed weights and are never in the compiled cache.
  package var expandedByteCount: Int

  package init(byteCount: Int = 0, expandedByteCount: Int = 0) {
    self.byteCount = byteCount
    self.expandedByteCount = expandedByteCount
  }
}

/// Small results that a device reuses in later processes: pipeline caches, program binaries, chosen kernels. A blob
/// may be missing at any time, and the device that reads it must validate it.
package protocol BlobCache: AnyObject, Sendable {
  func blob(_ key: String) -> Bytes?
  func store(_ key: String, _ bytes: UnsafeRawBufferPointer)
}

/// A compiled segment: immutable, shared by every session.
package protocol Executable: AnyObject, Sendable {
  /// The bytes of private memory that one invocation needs. Invocations that never run at the same time may share it.
  var scratchByteCount: Int { get }

  /// The kernel of each node of the segment's graph, as the device names it: `winograd 4x4`. Nodes without a reported
  /// name are missing.
  var kernels: [String: String] { get }

  /// Records an invocation on a session's own buffers.
  func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation
}

extension Executable {
  package var kernels: [String: String] { [:] }
}

/// The memory of one invocation. Slices are in buffers of the executable's device, or, for a device on the host, in
/// any buffer that the host can address.
package struct Bindings {
  /// The slices in the order of the segment's inputs and outputs.
  package var inputs: [BufferSlice]
  package var outputs: [BufferSlice]
  /// At least `scratchByteCount` bytes; nil if that is zero.
  package var scratch: BufferSlice?
  /// Whether `Invocation.nodeTimings` is requested. Measuring may slow the invocation a little.
  package var measuresNodes: Bool
  /// The indices of the inputs that the host writes before each submission (`Invocation.stagedInputs`), and of the
  /// outputs that it reads afterwards (`Invocation.stagedOutputs`).
  package var hostInputs: Set<Int>
  package var hostOutputs: Set<Int>
  /// Checked between nodes by devices that compute on the calling thread. If it is set, the submission throws
  /// `.cancelled` and its outputs are incomplete.
  package var stop: StopSignal?

  package init(
    inputs: [BufferSlice], outputs: [BufferSlice], scratch: BufferSlice?, measuresNodes: Bool = false,
    hostInputs: Set<Int> = [], hostOutputs: Set<Int> = [], stop: StopSignal? = nil
  ) {
    self.inputs = inputs
    self.outputs = outputs
    self.scratch = scratch
    self.measuresNodes = measuresNodes
    self.hostInputs = hostInputs
    self.hostOutputs = hostOutputs
    self.stop = stop
  }
}

/// A recorded run of a segment, owned by one session. It must not be used from two threads at once.
package protocol Invocation: AnyObject {
  /// The event of the latest submission's completion, after which host or device may read its outputs.
  var completion: any Event { get }

  /// Starts the work, after all earlier submissions to the device. It may return before completion (a GPU) or after
  /// it (the CPU, which uses the calling thread and its pool). Results of other devices that it reads must be
  /// complete. It must not be called again before `completion` was signalled.
  ///
  /// - Throws: the failure of the device; a device that computes on the calling thread also throws `.execution` and
  ///   `.cancelled`.
  func submit() throws(DeviceError)

  /// Host memory of inputs of `Bindings.hostInputs`, by index. Each submission first copies it to the input's slice, so
  /// the host must write it. The host writes other inputs to their slices.
  var stagedInputs: [Int: BufferSlice] { get }

  /// Host memory of outputs of `Bindings.hostOutputs`, by index. Each submission ends with a copy of the output's slice
  /// to it. The host reads other outputs from their slices.
  var stagedOutputs: [Int: BufferSlice] { get }

  /// The time of each node of the segment's graph in the latest completed submission; empty unless requested. Time
  /// spent in the body of a fused node counts for the fused node.
  var nodeTimings: [NodeTiming] { get }
}

/// Suits a device whose submissions make no copies for the host.
extension Invocation {
  package var stagedInputs: [Int: BufferSlice] { [:] }
  package var stagedOutputs: [Int: BufferSlice] { [:] }
}

package struct NodeTiming: Hashable, Sendable {
  package enum Clock: String, Hashable, Sendable, Codable {
    case host = "host clock"
    case device = "device timestamps"
  }

  package var node: String
  /// The seconds since the submission began.
  package var start: Double
  package var seconds: Double
  package var clock: Clock

  package init(node: String, start: Double, seconds: Double, clock: Clock) {
    self.node = node
    self.start = start
    self.seconds = seconds
    self.clock = clock
  }
}

/// A point in the work of a device.
package protocol Event: AnyObject, Sendable {
  /// Blocks the calling thread until the point is reached.
  ///
  /// - Throws: `DeviceError` if the device failed before.
  func wait() throws(DeviceError)
}

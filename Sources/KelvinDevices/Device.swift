package import KelvinGraph

/// Something that runs nodes. A device is immutable after its creation and used from any thread.
///
/// The life of a model on a device: `support` answers which nodes it can run; `compile` turns a connected run of nodes
/// into an immutable `Executable`, packing weights on the way; `Executable.bind` records a session's own `Invocation`
/// on its buffers; `Invocation.submit` runs it, without allocating or recording anything.
///
/// At the boundary of a segment every value is dense, row-major and in the graph's element type. Inside, a device lays
/// values out as it likes.
package protocol Device: AnyObject, Sendable {
  var info: DeviceInfo { get }

  /// Whether it can be relied on.
  var health: DeviceHealth { get }

  /// Whether this device runs a node. The one answer that planner, tests and documentation ask for. A node with a body
  /// is supported where its whole body is.
  func support(for node: Node, in graph: Graph, precision: Precision) -> Support

  /// The precision in which this device computes a node where `precision` is asked for: never a lower one. Two
  /// precisions with the same answer give the same kernels and times, and whatever is kept of a node is kept under the
  /// answer, never under the question.
  func effectivePrecision(_ precision: Precision, of node: Node, in graph: Graph) -> Precision

  /// What is known of whether the device's driver computes what kernels say; nil where there is no driver to doubt.
  var trust: KernelTrust? { get }

  /// Prepares a segment whose nodes this device supports.
  func compile(_ segment: Segment) throws(DeviceError) -> any Executable

  /// Memory for boundary values and scratch, its start aligned to `bufferAlignment`.
  func makeBuffer(byteCount: Int) throws(DeviceError) -> any Buffer

  /// The same for scratch alone, which the host need not reach.
  func makeScratch(byteCount: Int) throws(DeviceError) -> any Buffer
}

extension Device {
  /// For a device that computes in float32 whatever is asked for.
  package func effectivePrecision(_ precision: Precision, of node: Node, in graph: Graph) -> Precision { .full }

  package var trust: KernelTrust? { nil }

  /// For a device whose memory is the host's at all times, or never.
  package func makeScratch(byteCount: Int) throws(DeviceError) -> any Buffer { try makeBuffer(byteCount: byteCount) }
}

/// Offsets of slices inside a buffer are multiples of this many bytes.
package let bufferAlignment = 256

/// Whether a device can run a node.
package enum Support: Hashable, Sendable {
  case supported
  /// The reason completes the sentence "unsupported on vulkan:0: …".
  case unsupported(String)

  package var isSupported: Bool { self == .supported }
}

/// A connected run of nodes to be compiled as one.
package struct Segment: Sendable {
  /// Its inputs and outputs are the values that cross the segment's boundary.
  package var graph: Graph
  package var precision: Precision
  /// How many threads a CPU device may use.
  package var threads: Int
  /// Whether choices by timing are forbidden, so that results repeat bit for bit.
  package var isDeterministic: Bool
  /// Which may be chosen so otherwise.
  package var tuning: KernelTuning
  package var weights: any PackedWeights
  package var blobs: any BlobCache
  /// Seconds that nodes are expected to take, by name; none where nobody knows.
  package var expectedSeconds: [String: Double]
  /// The ways (`KernelOffer.key`) that nodes are to be computed in, by name, where the device has them.
  package var implementations: [String: String]
  package var watchdog: Watchdog
  /// Called where all of its weights are packed and its device goes on with something else.
  package var didPack: @Sendable () -> Void
  /// Told how much of the segment is compiled, 0…1; answers whether to go on.
  private let goesOn: @Sendable (Double) -> Bool

  package init(
    graph: Graph, precision: Precision, threads: Int, isDeterministic: Bool, weights: any PackedWeights,
    blobs: any BlobCache, tuning: KernelTuning = KernelTuning(.off), expectedSeconds: [String: Double] = [:],
    implementations: [String: String] = [:], watchdog: Watchdog = .standard,
    didPack: @escaping @Sendable () -> Void = {},
    goesOn: @escaping @Sendable (Double) -> Bool = { _ in true }
  ) {
    self.didPack = didPack
    self.expectedSeconds = expectedSeconds
    self.implementations = implementations
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
  /// What one run of it may take.
  package var limit: Double { watchdog.limit(expecting: expectedSeconds.values.reduce(0, +)) }

  /// Called by a device before it compiles each node, so that long compilations report progress and can be given up.
  ///
  /// - Throws: `.cancelled` where nobody wants the result any more.
  package func begin(node: Int, of count: Int, device: String) throws(DeviceError) {
    try goOn(device: device, at: Double(node) / Double(max(count, 1)))
  }

  /// Called before anything that takes a while and compiles no node.
  ///
  /// - Throws: `.cancelled` where nobody wants the result any more.
  func goOn(device: String, at fraction: Double = 0) throws(DeviceError) {
    DriverThread.beat()
    guard goesOn(fraction) else {
      throw DeviceError(.cancelled, device: device, place: "compilation", reason: "cancelled")
    }
  }
}

/// Bytes behind a weight that was packed in this process which may be read: room for what devices round sizes up to.
package let packedRoom = 3 * bufferAlignment

/// Where packed weights are kept: shared by all shapes and sessions of a model, and by later processes through the
/// compiled cache.
package protocol PackedWeights: AnyObject, Sendable {
  /// The packed form stored under `key`, aligned to a page, made by `fill` if this is its first use. `Bytes.widened` has what
  /// may be read behind it.
  ///
  /// - Parameters:
  ///   - key: names the weight and the layout, its element type included; the same on every run:
  ///     `conv1_weight/gemm-f32-16`. Forms for several precisions lie side by side, and kernels that read the same form
  ///     share it. So it has all that the bytes depend on besides the weight: nodes may read one weight as several shapes.
  ///   - byteCount: the packed size.
  ///   - fill: writes every byte. It reads the model's weights; nothing else in `compile` does.
  func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes

  /// Told that what has been asked for is all that the segments of a model's compiled form need: who keeps it may begin.
  func didPackAll()

  /// The memory of what has been asked for so far.
  var footprint: PackedFootprint { get }
}

extension PackedWeights {
  package func didPackAll() {}
  package var footprint: PackedFootprint { PackedFootprint() }
}

extension DeviceError {
  /// What a device says where memory found under a weight's key is not as large as the form that was asked for.
  ///
  /// - Parameters:
  ///   - expected: bytes that the form takes.
  ///   - got: bytes that are there.
  package static func otherForm(of key: String, expected: Int, got: Int, device: String) -> DeviceError {
    DeviceError(
      .compilation, device: device, place: "weight '\(key)'",
      reason: "expected \(expected) packed bytes, got \(got); clear the cache")
  }
}

/// How much memory packed weights take.
package struct PackedFootprint: Hashable, Sendable {
  package var byteCount: Int
  /// Bytes of these that were expanded from compressed weights: in memory only, never in the compiled cache.
  package var expandedByteCount: Int

  package init(byteCount: Int = 0, expandedByteCount: Int = 0) {
    self.byteCount = byteCount
    self.expandedByteCount = expandedByteCount
  }
}

/// Small results that a device wants to find again in a later process: pipeline caches, program binaries, chosen
/// kernels. A blob may be missing at any time, and is checked by the device that reads it.
package protocol BlobCache: AnyObject, Sendable {
  func blob(_ key: String) -> Bytes?
  func store(_ key: String, _ bytes: UnsafeRawBufferPointer)
}

/// A compiled segment: immutable, shared by every session.
package protocol Executable: AnyObject, Sendable {
  /// Bytes of private memory that one invocation needs. Invocations that never run at the same time may share it.
  var scratchByteCount: Int { get }

  /// What computes each node of the segment's graph, by the device's own names: `winograd 4x4`; empty where nobody says.
  var kernels: [String: String] { get }

  /// Records an invocation on a session's own buffers.
  func bind(_ bindings: Bindings) throws(DeviceError) -> any Invocation
}

extension Executable {
  package var kernels: [String: String] { [:] }
}

/// The memory of one invocation. Slices lie in buffers of the executable's device, or, for a device on the host, in
/// any buffer that the host can address.
package struct Bindings {
  /// In the order of the segment's inputs and outputs.
  package var inputs: [BufferSlice]
  package var outputs: [BufferSlice]
  /// At least `scratchByteCount` bytes; nil where that is zero.
  package var scratch: BufferSlice?
  /// Whether `Invocation.nodeTimings` is wanted. Measuring may slow the invocation a little.
  package var measuresNodes: Bool
  /// Checked between nodes by devices that compute on the calling thread; a submission that finds it set throws
  /// `.cancelled`, its outputs incomplete.
  package var stop: StopSignal?

  package init(
    inputs: [BufferSlice], outputs: [BufferSlice], scratch: BufferSlice?, measuresNodes: Bool = false,
    stop: StopSignal? = nil
  ) {
    self.inputs = inputs
    self.outputs = outputs
    self.scratch = scratch
    self.measuresNodes = measuresNodes
    self.stop = stop
  }
}

/// A recorded run of a segment, owned by one session. Not for use from two threads at once.
package protocol Invocation: AnyObject {
  /// Signalled when the latest submission has completed and its outputs may be read by host or device.
  var completion: any Event { get }

  /// Starts the work, behind all that the device was given before; may return before it is done (a GPU) or after (the CPU,
  /// whose work runs on the calling thread and its pool). What it reads of other devices' results has to be there. Not
  /// called again before `completion` was signalled.
  ///
  /// - Throws: what took the device out; `.execution` and `.cancelled` too from one that computes on the calling thread.
  func submit() throws(DeviceError)

  /// Seconds each node of the segment's graph took in the latest completed submission, by node name; empty unless
  /// asked for. Names of fused nodes' bodies never appear: their time counts for the fused node.
  var nodeTimings: [NodeTiming] { get }
}

package struct NodeTiming: Hashable, Sendable {
  package enum Clock: String, Hashable, Sendable, Codable {
    case host = "host clock"
    case device = "device timestamps"
  }

  package var node: String
  /// Seconds since the submission began.
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

/// A point in the work of some device.
package protocol Event: AnyObject, Sendable {
  /// Blocks the calling thread until the point is reached.
  ///
  /// - Throws: `DeviceError` where the device failed on the way.
  func wait() throws(DeviceError)
}

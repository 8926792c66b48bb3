internal import KelvinGraph

/// A check that a device still computes correctly: a chain of additions with exact results.
///
/// The chain has many short dispatches and new inputs each time, so that a device that leaves out or spoils some of its
/// work is found. One caller at a time uses it.
final class Canary {
  /// The number of additions: one in ten that is left out is found with certainty, one in a hundred in every third check.
  private static let length = 40
  private static let count = 64

  private let device: String
  private let invocation: any Invocation
  private let values: BufferSlice
  private let steps: BufferSlice
  private let result: BufferSlice
  private var checks = 0

  /// Returns the chain of a device; nil if the device does not support additions.
  ///
  /// - Throws: the errors of compiling and of making buffers.
  init?(on device: any Device, _ watchdog: Watchdog) throws(DeviceError) {
    let graph = Self.graph
    guard device.support(for: graph.nodes[0], in: graph, precision: .full).isSupported else { return nil }
    self.device = device.info.id
    let executable = try device.compile(
      Segment(
        graph: graph, precision: .full, threads: 1, isDeterministic: true, weights: NoPackedWeights(),
        blobs: NoBlobCache(), watchdog: watchdog))
    let byteCount = Self.count * MemoryLayout<Float>.size
    let memory = try device.makeBuffer(byteCount: 3 * bufferAlignment)
    let slices = (0..<3).map { BufferSlice(memory, offset: $0 * bufferAlignment, byteCount: byteCount) }
    (values, steps, result) = (slices[0], slices[1], slices[2])
    let scratch = executable.scratchByteCount
    invocation = try executable.bind(
      Bindings(
        inputs: [values, steps], outputs: [result],
        scratch: scratch > 0
          ? BufferSlice(try device.makeScratch(byteCount: scratch), offset: 0, byteCount: scratch) : nil))
  }

  private static let type = TensorType(.float32, [count])

  private static var graph: Graph {
    var graph = Graph()
    func add(_ name: String) -> ValueID { graph.addValue(Value(name: name, type: type, weight: nil)) }
    let (values, steps) = (add("values"), add("steps"))
    var last = values
    for index in 0..<length {
      let next = add("sum\(index)")
      graph.nodes.append(
        Node(name: "add\(index)", op: Binary(.add), inputs: [last, steps], outputs: [next], origins: []))
      last = next
    }
    (graph.inputs, graph.outputs) = ([values, steps], [last])
    return graph
  }

  /// - Throws: `.wrong` if the result is wrong; the failure of the device.
  func check() throws(DeviceError) {
    checks &+= 1
    let first = (0..<Self.count).map { Double(($0 * 7 + checks % 8191) % 8191) }
    let step = (0..<Self.count).map { Double($0 % 7 + 1) }
    for (elements, slice) in [(first, values), (step, steps)] {
      try Tensor(Self.type, rounding: elements).bytes.withUnsafeBytes { (raw) throws(DeviceError) in
        try slice.write(raw)
      }
    }
    try invocation.submit()
    try invocation.completion.wait()
    let bytes = try Bytes(count: result.byteCount) { (raw) throws(DeviceError) in try result.read(into: raw) }
    let got = Tensor(Self.type, bytes).doubles
    for index in got.indices {
      let wanted = first[index] + Double(Self.length) * step[index]
      guard got[index] != wanted else { continue }
      throw DeviceError(
        .wrong, device: device, place: "check of results",
        reason: "element \(index) of a sum is \(got[index]), expected \(wanted)")
    }
  }
}

/// The canary of a device, made at its first check.
package final class CanaryCheck: Sendable {
  private final class State: @unchecked Sendable {
    var canary: Canary?
    /// Whether the device does not support the check.
    var isMissing = false
    var fastest = Double.infinity
  }

  private let device: any Device
  private let watchdog: Watchdog
  private let state = DeviceLock(State())

  /// - Parameter watchdog: the time limits of the model that the check belongs to.
  package init(_ device: any Device, _ watchdog: Watchdog) {
    self.device = device
    self.watchdog = watchdog
  }

  /// Checks the device.
  ///
  /// - Returns: the seconds of the fastest check so far; infinity if the device does not support the check.
  /// - Throws: `.wrong` if the device computes wrongly; its other failures.
  package func run() throws(DeviceError) -> Double {
    try state.withLock(device.health) { (state) throws(DeviceError) in
      if state.canary == nil, !state.isMissing {
        state.canary = try Canary(on: device, watchdog)
        state.isMissing = state.canary == nil
      }
      guard let canary = state.canary else { return .infinity }
      let began = secondsAwake()
      try canary.check()
      state.fastest = min(state.fastest, secondsAwake() - began)
      return state.fastest
    }
  }
}

/// The store of a segment without weights.
private final class NoPackedWeights: PackedWeights {
  func packed(
    _ key: String, byteCount: Int, fill: (UnsafeMutableRawBufferPointer) throws(DeviceError) -> Void
  ) throws(DeviceError) -> Bytes { preconditionFailure("the segment has no weight '\(key)'") }
}

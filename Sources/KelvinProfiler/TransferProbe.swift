import KelvinDevices
import KelvinGraph
import KelvinMeasurements
import KelvinRuntime

/// Measures copies between two devices' buffers, made as a session makes them.
struct TransferProbe {
  static let sizes = [4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20]

  struct Outcome {
    var fit: TransferFit
    /// Whether the value is in memory that both devices address, so that nothing is copied.
    var isShared: Bool
    var samples: Int
    var isNoisy: Bool
  }

  let clock: any MeasurementClock
  /// Seconds for all sizes together.
  let budget: Double

  /// - Parameters:
  ///   - from: the source device; may be the host.
  ///   - to: the target device; may be the host.
  func measure(from: any Device, to: any Device) throws(DeviceError) -> Outcome {
    // Sessions also make all copies on one thread.
    try DriverThread.perform { [self] () throws(DeviceError) in try copies(from, to) }
  }

  private func copies(_ from: any Device, _ to: any Device) throws(DeviceError) -> Outcome {
    let free = TransferFit([])
    let probe = (
      from: try from.makeBuffer(byteCount: bufferAlignment), to: try to.makeBuffer(byteCount: bufferAlignment)
    )
    let touchesHost = from.info.isHost || to.info.isHost
    if touchesHost, probe.from.hostPointer != nil, probe.to.hostPointer != nil {
      return Outcome(fit: free, isShared: true, samples: 0, isNoisy: false)
    }
    var points: [TransferFit.Point] = []
    var samples = 0
    var isNoisy = false
    for size in Self.sizes {
      // A device whose memory is too small for the largest sizes is measured with the others.
      guard let copy = try? Copy(from, to, size) else { break }
      let deadline = clock.now() + budget / Double(Self.sizes.count)
      var (seconds, bare): ([Double], [Double]) = ([], [])
      try copy.perform()
      while seconds.count < 5 || (seconds.count < 200 && clock.now() < deadline) {
        seconds.append(try clock.time { () throws(DeviceError) in try copy.perform() })
        if copy.isRecorded { bare.append(try clock.time { () throws(DeviceError) in try copy.performBare() }) }
      }
      guard let statistics = try? LatencyStatistics(seconds) else { continue }
      let rest = try? LatencyStatistics(bare)
      points.append(.init(bytes: size, seconds: statistics.median - (rest?.median ?? 0)))
      samples += seconds.count
      if max(statistics.relativeUncertainty, rest?.relativeUncertainty ?? 0) > 0.1 { isNoisy = true }
    }
    let fit = TransferFit(points)
    return Outcome(fit: fit, isShared: false, samples: samples, isNoisy: isNoisy || fit.largestError > 0.5)
  }

  /// A copy as a session makes it: by the submissions of the segments at its ends, or else by the buffers.
  private struct Copy {
    private let copy: BoundCopy
    /// The memory at both ends, of which the copy has addresses only.
    private let ends: [any Buffer]
    /// The segment that computes the value, and the one that reads it, if their submissions make the copy.
    private let producer: CopyingSegment?
    private let reader: CopyingSegment?

    var isRecorded: Bool { producer != nil || reader != nil }

    init(_ from: any Device, _ to: any Device, _ byteCount: Int) throws(DeviceError) {
      let source = try from.makeBuffer(byteCount: byteCount)
      let target = try to.makeBuffer(byteCount: byteCount)
      ends = [source, target]
      producer = source.hostPointer == nil ? try? CopyingSegment(from, source, isInput: false) : nil
      reader = target.hostPointer == nil ? try? CopyingSegment(to, target, isInput: true) : nil
      copy = try BoundCopy(producer?.memory ?? source.whole, reader?.memory ?? target.whole)
    }

    func perform() throws(DeviceError) {
      try producer?.copying.complete()
      try withExtendedLifetime(ends) { () throws(DeviceError) in try copy.perform() }
      try reader?.copying.complete()
    }

    /// Runs the segments without the copy.
    func performBare() throws(DeviceError) {
      try producer?.plain.complete()
      try reader?.plain.complete()
    }
  }

  /// A segment of one node, with and without the copy of its input from the host, or of its output to the host.
  private struct CopyingSegment {
    let plain: any Invocation
    let copying: any Invocation
    /// The host memory that is copied.
    let memory: BufferSlice

    /// - Parameter value: the memory of the input or output.
    /// - Returns: nil if the device's submissions make no such copies.
    init?(_ device: any Device, _ value: any Buffer, isInput: Bool) throws(DeviceError) {
      let type = TensorType(.float32, [value.byteCount / 4])
      var graph = Graph()
      let (x, y) = (graph.addValue(Value(name: "x", type: type)), graph.addValue(Value(name: "y", type: type)))
      (graph.inputs, graph.outputs) = ([x], [y])
      graph.nodes = [Node(name: "y", op: Unary(.relu), inputs: [x], outputs: [y], origins: [])]
      guard device.support(for: graph.nodes[0], in: graph, precision: .full).isSupported else { return nil }
      let executable = try device.compile(
        Segment(
          graph: graph, precision: .full, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(),
          blobs: NoBlobCache()))
      let other = try device.makeBuffer(byteCount: value.byteCount)
      let scratch = executable.scratchByteCount
      let bindings = Bindings(
        inputs: [(isInput ? value : other).whole], outputs: [(isInput ? other : value).whole],
        scratch: scratch > 0 ? try device.makeScratch(byteCount: scratch).whole : nil)
      plain = try executable.bind(bindings)
      var copied = bindings
      if isInput { copied.hostInputs = [0] } else { copied.hostOutputs = [0] }
      copying = try executable.bind(copied)
      guard let memory = isInput ? copying.stagedInputs[0] : copying.stagedOutputs[0] else { return nil }
      self.memory = memory
    }
  }
}

extension Buffer {
  fileprivate var whole: BufferSlice { BufferSlice(self, offset: 0, byteCount: byteCount) }
}

extension Invocation {
  fileprivate func complete() throws(DeviceError) {
    try submit()
    try completion.wait()
  }
}

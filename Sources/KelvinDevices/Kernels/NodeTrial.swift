package import KelvinGraph

/// Memory in which the kernels of one node are timed, one after another.
package final class TrialMemory {
  private var buffer: (any Buffer)?

  package init() {}

  /// - Returns: memory of at least `byteCount` bytes, without results of other kernels.
  fileprivate func buffer(byteCount: Int, on device: any Device) throws(DeviceError) -> any Buffer {
    if let buffer, buffer.byteCount >= byteCount {
      try buffer.fill(with: 0xFF)
      return buffer
    }
    buffer = nil
    let made = try device.makeBuffer(byteCount: byteCount)
    try made.fill(with: 0xFF)
    buffer = made
    return made
  }
}

/// A node compiled alone, with synthetic operands that are equal for all its implementations.
package final class NodeTrial: KernelTrial {
  private let node: String
  private let invocation: any Invocation
  private let outputs: [BufferSlice]
  /// Retained while the invocation is used.
  private let executable: any Executable

  /// - Parameters:
  ///   - executable: the compiled graph, on the device.
  ///   - graph: a graph of one node.
  ///   - memory: shared by the kernels of the node, one at a time.
  package init(
    _ executable: any Executable, of graph: Graph, on device: any Device, in memory: TrialMemory
  ) throws(DeviceError) {
    self.executable = executable
    node = graph.nodes.first?.name ?? ""
    let (inputs, outputs) = (graph.types(graph.inputs), graph.types(graph.outputs))
    var (sizes, offsets, end) = ((inputs + outputs).map(\.byteCount) + [executable.scratchByteCount], [Int](), 0)
    if sizes.last == 0 { sizes.removeLast() }
    for size in sizes {
      offsets.append(end)
      end += (max(size, 1) + bufferAlignment - 1) / bufferAlignment * bufferAlignment
    }
    let buffer = try memory.buffer(byteCount: end, on: device)
    let slices = zip(offsets, sizes).map { BufferSlice(buffer, offset: $0, byteCount: $1) }
    for (place, (type, slice)) in zip(inputs, slices).enumerated() {
      try Self.operand(type, place).withUnsafeBytes { (raw) throws(DeviceError) in try slice.write(raw) }
    }
    let bound = inputs.count + outputs.count
    self.outputs = Array(slices[inputs.count..<bound])
    invocation = try executable.bind(
      Bindings(
        inputs: Array(slices[..<inputs.count]), outputs: self.outputs,
        scratch: slices.count > bound ? slices[bound] : nil, measuresNodes: true))
  }

  /// Returns synthetic elements: floating-point values are multiples of 1/8 from -1 to 1, no two neighbours equal;
  /// integers are from 0 to 16.
  private static func operand(_ type: TensorType, _ place: Int) -> Bytes {
    let pattern = (0..<min(type.count, 4099)).map { index -> Double in
      let step = Double((index * 37 + place * 11 + index / 13) % 17)
      if type.scalar == .bool { return step > 7 ? 1 : 0 }
      return type.scalar.isFloatingPoint ? (step - 8) / 8 : step
    }
    let piece = Tensor(TensorType(type.scalar, [pattern.count]), rounding: pattern).bytes
    return piece.repeated(toCount: type.byteCount)
  }

  package func seconds() throws(DeviceError) -> Double {
    let begin = KernelTuning.now()
    try invocation.submit()
    try invocation.completion.wait()
    let whole = KernelTuning.now() - begin
    // The time to move operands into the kernel's memory does not count for the node.
    return invocation.nodeTimings.first { $0.node == node }?.seconds ?? whole
  }

  package func results() throws(DeviceError) -> Digest {
    var parts: [UInt8] = []
    for slice in outputs {
      let bytes = try Bytes(count: slice.byteCount) { (raw) throws(DeviceError) in try slice.read(into: raw) }
      parts += Digest(bytes).bytes
    }
    return Digest(parts)
  }
}

extension Bytes {
  /// Returns the bytes repeated up to `count`, the last time in part.
  fileprivate func repeated(toCount count: Int) -> Bytes {
    guard self.count > 0, self.count < count else { return self }
    return withUnsafeBytes { piece in
      Bytes(count: count) { raw in
        for start in stride(from: 0, to: count, by: piece.count) {
          let part = UnsafeRawBufferPointer(rebasing: piece[..<min(piece.count, count - start)])
          UnsafeMutableRawBufferPointer(rebasing: raw[start...]).copyMemory(from: part)
        }
      }
    }
  }
}

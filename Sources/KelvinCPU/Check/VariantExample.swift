import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// Nodes on small operands, and what a device makes of them.
struct VariantExample {
  let graph: Graph
  /// Whether there are kernels for them on blocks of channels, and for rounded operands.
  let onBlocks, rounds: Bool
  private let inputs: [Tensor]

  enum Operand {
    case input(Shape, ScalarType = .float32)
    case weight(Shape, ScalarType = .float32)
    /// A weight whose elements are all the same.
    case number(Double, Shape = [], ScalarType = .float32)

    fileprivate var type: TensorType {
      switch self {
      case .input(let shape, let scalar), .weight(let shape, let scalar), .number(_, let shape, let scalar):
        TensorType(scalar, shape)
      }
    }

    fileprivate var isInput: Bool { if case .input = self { true } else { false } }

    /// Elements are few eighths, which bfloat16 holds, or small integers; of operands but the first and weights none is
    /// zero.
    fileprivate func tensor(at place: Int) -> Tensor {
      let values = (0..<type.count).map { index -> Double in
        if case .number(let value, _, _) = self { return value }
        let step = (index * 37 + place * 11 + index / 13) % 17 + 1
        return switch type.scalar {
        case .float16, .float32: Double(!isInput || place == 0 ? step - 8 : step) / 8
        case .bool: Double(step % 2)
        default: Double(step)
        }
      }
      return Tensor(type, rounding: values)
    }
  }

  init(_ nodes: [(op: any Operator, operands: [Operand])], onBlocks: Bool = false, rounds: Bool = false) throws {
    (self.onBlocks, self.rounds) = (onBlocks, rounds)
    var graph = Graph()
    var inputs: [Tensor] = []
    for (index, node) in nodes.enumerated() {
      let ids = node.operands.enumerated().map { place, operand in
        let tensor = operand.tensor(at: place)
        let name = "x\(index).\(place)"
        let id = graph.addValue(
          Value(name: name, type: tensor.type, weight: operand.isInput ? nil : Weight(tensor)))
        if operand.isInput {
          graph.inputs.append(id)
          inputs.append(tensor)
        }
        return id
      }
      let output = graph.addValue(Value(name: "y\(index)", type: try node.op.infer(graph.types(ids))[0]))
      graph.nodes.append(Node(name: "node\(index)", op: node.op, inputs: ids, outputs: [output], origins: []))
      graph.outputs.append(output)
    }
    self.graph = graph
    self.inputs = inputs
  }

  /// How far a node's result may be from that of plain C. Rounded operands are the operands themselves, unless a transform
  /// adds them up before.
  func tolerance(of node: Node, rounds: Bool) -> Tolerance {
    let window = (node.op as? Convolution)?.window
    let addsFirst = window?.kernel == [3, 3] && window?.strides == [1, 1]
    return node.op.tolerance(rounds && addsFirst ? .low : .full, graph.types(node.inputs))
  }

  /// - Returns: the elements of each node's result.
  func run(on device: CPUDevice, _ precision: Precision) throws(DeviceError) -> [[Double]] {
    let executable = try device.compile(
      Segment(
        graph: graph, precision: precision, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(),
        blobs: NoBlobCache()))
    func slice(_ byteCount: Int) throws(DeviceError) -> BufferSlice {
      let buffer = try device.makeBuffer(byteCount: max(byteCount, 1))
      buffer.hostPointer?.initializeMemory(as: UInt8.self, repeating: 0xFF, count: byteCount)
      return BufferSlice(buffer, offset: 0, byteCount: byteCount)
    }
    let sources = try inputs.map { (tensor) throws(DeviceError) -> BufferSlice in
      let slice = try slice(tensor.type.byteCount)
      try tensor.bytes.withUnsafeBytes { (raw) throws(DeviceError) in try slice.write(raw) }
      return slice
    }
    let types = graph.types(graph.outputs)
    let targets = try types.map { (type) throws(DeviceError) in try slice(type.byteCount) }
    let scratch = executable.scratchByteCount > 0 ? try slice(executable.scratchByteCount) : nil
    let invocation = try executable.bind(Bindings(inputs: sources, outputs: targets, scratch: scratch))
    try invocation.submit(after: [])
    try invocation.completion.wait()
    var elements: [[Double]] = []
    for (type, target) in zip(types, targets) {
      let bytes = try Bytes(count: type.byteCount) { (raw) throws(DeviceError) in try target.read(into: raw) }
      elements.append(Tensor(type, bytes).doubles)
    }
    return elements
  }
}

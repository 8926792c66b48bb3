package import KelvinGraph

/// Nodes with small deterministic operands, without equal neighbouring elements, and their results on a device.
package struct NodeExample: Sendable {
  package typealias Entry = (op: any Operator, operands: [Operand])

  package let graph: Graph
  private let inputs: [Tensor]
  /// The implementation to use, by node name.
  private let implementations: [String: String]

  package enum Operand: Sendable {
    case input(Shape, ScalarType = .float32)
    case weight(Shape, ScalarType = .float32)
    /// A weight whose elements are stored as multiples of a scale, of 8 or of 4 bits, or as indices into a table.
    case multiples(Shape, ScalarType = .float32)
    case shortMultiples(Shape, ScalarType = .float32)
    case entries(Shape, ScalarType = .float32)
    /// A weight whose elements are all equal.
    case number(Double, Shape = [], ScalarType = .float32)
    /// An input whose elements are all equal.
    case uniform(Double, Shape, ScalarType = .float32)

    package var type: TensorType {
      switch self {
      case .input(let shape, let scalar), .weight(let shape, let scalar), .number(_, let shape, let scalar),
        .uniform(_, let shape, let scalar), .multiples(let shape, let scalar), .shortMultiples(let shape, let scalar),
        .entries(let shape, let scalar):
        TensorType(scalar, shape)
      }
    }

    /// Returns the operand with another type in place of float32.
    func of(_ scalar: ScalarType) -> Operand {
      guard type.scalar == .float32 else { return self }
      return switch self {
      case .input(let shape, _): .input(shape, scalar)
      case .weight(let shape, _): .weight(shape, scalar)
      case .multiples(let shape, _): .multiples(shape, scalar)
      case .shortMultiples(let shape, _): .shortMultiples(shape, scalar)
      case .entries(let shape, _): .entries(shape, scalar)
      case .number(let value, let shape, _): .number(value, shape, scalar)
      case .uniform(let value, let shape, _): .uniform(value, shape, scalar)
      }
    }

    fileprivate var isInput: Bool {
      switch self {
      case .input, .uniform: true
      default: false
      }
    }

    /// Returns the elements: small multiples of 1/8, which bfloat16 represents exactly, or integers from 1 to 17.
    /// Inputs other than the first operand have no zeros.
    fileprivate func tensor(at place: Int) -> Tensor {
      let values = (0..<type.count).map { index -> Double in
        switch self {
        case .number(let value, _, _), .uniform(let value, _, _): return value
        default: break
        }
        let step = (index * 37 + place * 11 + index / 13) % 17 + 1
        return switch type.scalar {
        case .float16, .float32: Double(!isInput || place == 0 ? step - 8 : step) / 8
        case .bool: Double(step % 2)
        default: Double(step)
        }
      }
      return Tensor(type, rounding: values)
    }

    /// Returns a weight in the operand's encoding.
    fileprivate func weight(at place: Int) -> Weight {
      let elements = tensor(at: place)
      func stored(_ scalar: ScalarType, from first: Double) -> Weight {
        Weight(Tensor(TensorType(scalar, type.shape), rounding: elements.doubles.map { ($0 * 8 - first).rounded() }))
      }
      func numbers(_ sizes: [Int], _ values: [Double]) -> Weight {
        Weight(Tensor(TensorType(type.scalar, Shape(type.shape.dimensions.map { _ in 1 } + sizes)), rounding: values))
      }
      do {
        switch self {
        case .input, .weight, .number, .uniform: return Weight(elements)
        case .multiples: return try Weight(affine: stored(.int8, from: 0), scale: numbers([], [0.125]))
        case .shortMultiples:
          let codes = PackedIntegers.packing(elements.doubles.map { Int($0 * 8) }, bits: 4)
          let integers = try PackedIntegers(codes, bits: 4, isSigned: true, shape: type.shape)
          return try Weight(affine: Weight(integers), scale: numbers([], [0.125]))
        case .entries:
          let table = numbers([256, 1], (0..<256).map { Double($0 - 128) / 8 })
          return try Weight(palettized: stored(.uint8, from: -128), table: table)
        }
      } catch { preconditionFailure("a weight of \(type) has no such encoding: \(error)") }
    }
  }

  /// - Parameter implementations: for each node, the implementation (`KernelOffer.key`) to use on devices that have
  ///   it.
  package init(_ nodes: [Entry], implementations: [String?] = []) throws(OperatorError) {
    var graph = Graph()
    var inputs: [Tensor] = []
    for (index, node) in nodes.enumerated() {
      let ids = node.operands.enumerated().map { place, operand in
        let weight = operand.isInput ? nil : operand.weight(at: place)
        let id = graph.addValue(Value(name: "x\(index).\(place)", type: operand.type, weight: weight))
        if operand.isInput {
          graph.inputs.append(id)
          inputs.append(operand.tensor(at: place))
        }
        return id
      }
      let outputs = try node.op.infer(graph.types(ids)).enumerated().map {
        graph.addValue(Value(name: "y\(index).\($0)", type: $1))
      }
      graph.nodes.append(Node(name: "node\(index)", op: node.op, inputs: ids, outputs: outputs, origins: []))
      graph.outputs += outputs
    }
    self.graph = graph
    self.inputs = inputs
    self.implementations = Dictionary(
      uniqueKeysWithValues: zip(graph.nodes, implementations).compactMap { node, implementation in
        implementation.map { (node.name, $0) }
      })
  }

  /// Returns the segment for a device to compile.
  package func segment(
    _ precision: Precision = .full, blobs: any BlobCache = NoBlobCache(), watchdog: Watchdog = .standard
  ) -> Segment {
    Segment(
      graph: graph, precision: precision, threads: 1, isDeterministic: true, weights: MemoryPackedWeights(),
      blobs: blobs, implementations: implementations, watchdog: watchdog)
  }

  /// Runs the nodes on a device; memory is initialized to NaN.
  ///
  /// - Returns: by node, the elements of its results one after another.
  package func run(
    on device: any Device, _ precision: Precision = .full, blobs: any BlobCache = NoBlobCache(),
    watchdog: Watchdog = .standard
  ) throws(DeviceError) -> [[Double]] {
    let executable = try device.compile(segment(precision, blobs: blobs, watchdog: watchdog))
    let outputs = graph.types(graph.outputs)
    let sizes = (inputs.map(\.type) + outputs).map(\.byteCount) + [executable.scratchByteCount]
    var offsets: [Int] = []
    var end = 0
    for size in sizes {
      offsets.append(end)
      end += (max(size, 1) + bufferAlignment - 1) / bufferAlignment * bufferAlignment
    }
    let memory = try device.makeBuffer(byteCount: end)
    try memory.fill(with: 0xFF)
    let slices = zip(offsets, sizes).map { BufferSlice(memory, offset: $0, byteCount: $1) }
    for (tensor, slice) in zip(inputs, slices) {
      try tensor.bytes.withUnsafeBytes { (raw) throws(DeviceError) in try slice.write(raw) }
    }
    let targets = Array(slices[inputs.count..<slices.count - 1])
    let scratch = executable.scratchByteCount > 0 ? slices.last : nil
    let invocation = try executable.bind(
      Bindings(inputs: Array(slices[..<inputs.count]), outputs: targets, scratch: scratch))
    try invocation.submit()
    try invocation.completion.wait()
    var results = zip(outputs, targets).makeIterator()
    return try graph.nodes.map { (node) throws(DeviceError) -> [Double] in
      var elements: [Double] = []
      for _ in node.outputs {
        guard let (type, target) = results.next() else { break }
        let bytes = try Bytes(count: type.byteCount) { (raw) throws(DeviceError) in try target.read(into: raw) }
        elements += Tensor(type, bytes).doubles
      }
      return elements
    }
  }

  /// Returns the first element whose difference exceeds twice the tolerance, since both devices may deviate from the
  /// exact result by it; nil if there is none.
  package static func difference(of got: [Double], from wanted: [Double], _ tolerance: Tolerance) -> String? {
    let largest = wanted.lazy.filter(\.isFinite).map(\.magnitude).max() ?? 0
    for (index, (got, wanted)) in zip(got, wanted).enumerated() where got != wanted && !(got.isNaN && wanted.isNaN) {
      let allowed = 2 * (tolerance.relative * wanted.magnitude + tolerance.absolute * largest)
      if !((got - wanted).magnitude <= allowed) { return "element \(index) is \(got), expected \(wanted)" }
    }
    return nil
  }
}

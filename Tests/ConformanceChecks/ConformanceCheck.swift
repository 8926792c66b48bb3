package import KelvinConformance
package import KelvinDevices
package import KelvinGraph

extension Device {
  /// Runs a whole graph as one segment on this device alone; scratch memory and outputs are initialized to NaN.
  ///
  /// - Parameters:
  ///   - inputs: one tensor for each of the graph's inputs, of its type.
  ///   - implementations: the implementation to use for a node, by node name, if the device has it.
  /// - Returns: the outputs, and the nodes' times if requested.
  package func run(
    _ graph: Graph, _ inputs: [Tensor], precision: Precision = .full, threads: Int = 2, measuresNodes: Bool = false,
    weights: any PackedWeights = MemoryPackedWeights(), blobs: any BlobCache = NoBlobCache(),
    implementations: [String: String] = [:]
  ) throws(DeviceError) -> (outputs: [Tensor], timings: [NodeTiming]) {
    let executable = try compile(
      Segment(
        graph: graph, precision: precision, threads: threads, isDeterministic: true, weights: weights, blobs: blobs,
        implementations: implementations))
    let run = try BoundRun(executable, graph, on: self, measuresNodes: measuresNodes)
    return (try run.outputs(of: inputs), run.timings)
  }

  /// Compiles a graph once and runs it on several lists of inputs.
  package func runEach(
    _ graph: Graph, _ inputs: [[Tensor]], precision: Precision = .full
  ) throws(DeviceError) -> [[Tensor]] {
    guard !inputs.isEmpty else { return [] }
    let weights = MemoryPackedWeights()
    let executable = try compile(
      Segment(
        graph: graph, precision: precision, threads: 2, isDeterministic: true, weights: weights, blobs: NoBlobCache()))
    let run = try BoundRun(executable, graph, on: self, measuresNodes: false)
    return try inputs.map { (inputs) throws(DeviceError) in try run.outputs(of: inputs) }
  }
}

/// An invocation with memory of its own, which is set to NaN before each run.
private struct BoundRun {
  private let types: [TensorType]
  private let inputs: [BufferSlice]
  private let outputs: [BufferSlice]
  private let scratch: BufferSlice?
  private let invocation: any Invocation

  init(_ executable: any Executable, _ graph: Graph, on device: any Device, measuresNodes: Bool) throws(DeviceError) {
    func slice(_ byteCount: Int) throws(DeviceError) -> BufferSlice {
      BufferSlice(try device.makeBuffer(byteCount: max(byteCount, 1)), offset: 0, byteCount: byteCount)
    }
    types = graph.types(graph.outputs)
    inputs = try graph.inputs.map { id throws(DeviceError) in try slice(graph[id].type.byteCount) }
    outputs = try types.map { type throws(DeviceError) in try slice(type.byteCount) }
    let size = executable.scratchByteCount
    scratch =
      size > 0 ? BufferSlice(try device.makeScratch(byteCount: size), offset: 0, byteCount: size) : nil
    invocation = try executable.bind(
      Bindings(inputs: inputs, outputs: outputs, scratch: scratch, measuresNodes: measuresNodes))
  }

  var timings: [NodeTiming] { invocation.nodeTimings }

  func outputs(of tensors: [Tensor]) throws(DeviceError) -> [Tensor] {
    for slice in outputs + (scratch.map { [$0] } ?? []) { try slice.buffer.fill(with: 0xFF) }
    for (tensor, slice) in zip(tensors, inputs) {
      try tensor.bytes.withUnsafeBytes { (raw) throws(DeviceError) in try slice.write(raw) }
    }
    try invocation.submit()
    try invocation.completion.wait()
    return try zip(types, outputs).map { (pair) throws(DeviceError) in
      Tensor(
        pair.0, try Bytes(count: pair.0.byteCount) { (raw) throws(DeviceError) in try pair.1.read(into: raw) })
    }
  }
}

/// The outcome of one case on one device.
package enum ConformanceOutcome: Sendable, Equatable {
  case agrees
  /// The reason why the device does not run the case's node.
  case unsupported(String)
  /// The position and size of the difference.
  case differs(String)
}

/// Runs a case on a device and compares the results with the reference device's, by the operators' own tolerances.
///
/// - Parameters:
///   - storesHalves: whether the device stores float32 as float16 between nodes at this precision.
///   - implementation: the implementation to use for every node, if the device has it.
package func checkConformance(
  of device: any Device, on testCase: ConformanceCase, reference: any Device, precision: Precision = .full,
  storesHalves: Bool = false, implementation: String? = nil
) throws(DeviceError) -> ConformanceOutcome {
  let testCase = storesHalves ? testCase.inHalves : testCase
  for node in testCase.graph.nodes {
    if case .unsupported(let reason) = device.support(for: node, in: testCase.graph, precision: precision) {
      return .unsupported(reason)
    }
  }
  let exact = try reference.run(testCase.graph, testCase.inputs, precision: .full).outputs
  let expected = storesHalves ? exact.map(\.inHalves) : exact
  let implementations = Dictionary(
    uniqueKeysWithValues: testCase.graph.nodes.compactMap { node in implementation.map { (node.name, $0) } })
  let actual = try device.run(
    testCase.graph, testCase.inputs, precision: precision, implementations: implementations
  ).outputs
  let tolerance = testCase.graph.tolerance(precision)
  for (index, pair) in zip(expected, actual).enumerated() {
    if let difference = tolerance.difference(of: pair.1, from: pair.0) {
      return .differs("output \(index) of '\(testCase.name)' on \(device.info.id): \(difference)")
    }
  }
  return .agrees
}

extension Graph {
  /// Returns the sum of the nodes' tolerances: exact for a graph of one node, an estimate for a few nodes.
  package func tolerance(_ precision: Precision) -> Tolerance {
    nodes.reduce(Tolerance.exact) { sum, node in
      let own = node.op.tolerance(precision, types(node.inputs))
      let inner = node.body?.tolerance(precision) ?? .exact
      return Tolerance(
        relative: sum.relative + max(own.relative, inner.relative),
        absolute: sum.absolute + max(own.absolute, inner.absolute))
    }
  }
}

extension Tolerance {
  /// Describes the worst element outside this tolerance, or returns nil if there is none. Not-a-number only equals
  /// itself.
  package func difference(of actual: Tensor, from expected: Tensor) -> String? {
    guard actual.type == expected.type else { return "expected \(expected.type), got \(actual.type)" }
    let (actual, expected) = (actual.doubles, expected.doubles)
    let largest = expected.lazy.filter(\.isFinite).map(\.magnitude).max() ?? 0
    var worst: (index: Int, excess: Double)?
    for (index, (got, wanted)) in zip(actual, expected).enumerated() where got != wanted && !(got.isNaN && wanted.isNaN)
    {
      let allowed = wanted.isFinite ? relative * wanted.magnitude + absolute * largest : 0
      let error = (got - wanted).magnitude
      guard !(error <= allowed) else { continue }
      let excess = error.isNaN || allowed == 0 ? .infinity : error / allowed
      if worst.map({ excess > $0.excess }) ?? true { worst = (index, excess) }
    }
    return worst.map {
      "element \($0.index): expected \(expected[$0.index]), got \(actual[$0.index]), \($0.excess) times the tolerance"
    }
  }
}

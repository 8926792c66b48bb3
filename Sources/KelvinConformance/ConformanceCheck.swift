package import KelvinDevices
package import KelvinGraph

extension Device {
  /// Runs a whole graph as one segment on this device alone, on scratch memory and outputs that hold not-a-number.
  ///
  /// - Parameter inputs: one tensor for each of the graph's inputs, of its type.
  /// - Returns: the outputs, and the nodes' times where they were asked for.
  package func run(
    _ graph: Graph, _ inputs: [Tensor], precision: Precision = .full, threads: Int = 2, measuresNodes: Bool = false,
    weights: any PackedWeights = MemoryPackedWeights(), blobs: any BlobCache = NoBlobCache()
  ) throws(DeviceError) -> (outputs: [Tensor], timings: [NodeTiming]) {
    let executable = try compile(
      Segment(
        graph: graph, precision: precision, threads: threads, isDeterministic: true, weights: weights, blobs: blobs))
    let inputSlices = try graph.inputs.map { id throws(DeviceError) in try slice(graph[id].type.byteCount) }
    let outputSlices = try graph.outputs.map { id throws(DeviceError) in try slice(graph[id].type.byteCount) }
    let scratch = executable.scratchByteCount > 0 ? try slice(executable.scratchByteCount) : nil
    for slice in outputSlices + (scratch.map { [$0] } ?? []) { try slice.buffer.fill(with: 0xFF) }
    for (tensor, slice) in zip(inputs, inputSlices) {
      try tensor.bytes.withUnsafeBytes { (raw) throws(DeviceError) in try slice.write(raw) }
    }
    let invocation = try executable.bind(
      Bindings(inputs: inputSlices, outputs: outputSlices, scratch: scratch, measuresNodes: measuresNodes))
    try invocation.submit(after: [])
    try invocation.completion.wait()
    var outputs: [Tensor] = []
    for (id, slice) in zip(graph.outputs, outputSlices) {
      let type = graph[id].type
      outputs.append(
        Tensor(type, try Bytes(count: type.byteCount) { (raw) throws(DeviceError) in try slice.read(into: raw) }))
    }
    return (outputs, invocation.nodeTimings)
  }

  private func slice(_ byteCount: Int) throws(DeviceError) -> BufferSlice {
    BufferSlice(try makeBuffer(byteCount: max(byteCount, 1)), offset: 0, byteCount: byteCount)
  }
}

/// What came of one case on one device.
package enum ConformanceOutcome: Sendable, Equatable {
  case agrees
  /// Why the device does not run the case's node.
  case unsupported(String)
  /// Where the results differ and by how much.
  case differs(String)
}

/// Runs a case on a device and compares it with the reference device, by the operators' own tolerances.
package func checkConformance(
  of device: any Device, on testCase: ConformanceCase, reference: any Device, precision: Precision = .full
) throws(DeviceError) -> ConformanceOutcome {
  for node in testCase.graph.nodes {
    if case .unsupported(let reason) = device.support(for: node, in: testCase.graph, precision: precision) {
      return .unsupported(reason)
    }
  }
  let expected = try reference.run(testCase.graph, testCase.inputs, precision: .full).outputs
  let actual = try device.run(testCase.graph, testCase.inputs, precision: precision).outputs
  let tolerance = testCase.graph.tolerance(precision)
  for (index, pair) in zip(expected, actual).enumerated() {
    if let difference = tolerance.difference(of: pair.1, from: pair.0) {
      return .differs("output \(index) of '\(testCase.name)' on \(device.info.id): \(difference)")
    }
  }
  return .agrees
}

extension Graph {
  /// The sum of its nodes' tolerances: exact for a graph that computes one node, an estimate for a few of them.
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
  /// Describes the worst element outside this tolerance, or nil where all are inside. Not-a-number equals itself only.
  package func difference(of actual: Tensor, from expected: Tensor) -> String? {
    guard actual.type == expected.type else { return "expected \(expected.type), got \(actual.type)" }
    let (actual, expected) = (actual.doubles, expected.doubles)
    let largest = expected.lazy.filter(\.isFinite).map(\.magnitude).max() ?? 0
    var worst: (index: Int, excess: Double)?
    for (index, (got, wanted)) in zip(actual, expected).enumerated() where got != wanted && !(got.isNaN && wanted.isNaN)
    {
      let allowed = relative * wanted.magnitude + absolute * largest
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

package import KelvinDevices
package import KelvinGraph

/// Adds one node's dispatches to a segment.
package struct NodeLowering<Target: GPUTarget> {
  package let lower: (Lowering<Target>) throws(DeviceError) -> Void
  /// Whether dense tensors may be of any size, because no kernel sees all of one.
  let takesAnySize: Bool

  package init(takesAnySize: Bool = false, _ lower: @escaping (Lowering<Target>) throws(DeviceError) -> Void) {
    self.lower = lower
    self.takesAnySize = takesAnySize
  }
}

package typealias GPUOffer<Target: GPUTarget> = KernelOffer<NodeLowering<Target>>
typealias GPUKernelTable<Target: GPUTarget> = KernelTable<KernelContext<Target>, NodeLowering<Target>>

/// The kernels of one device: the nodes that it runs, and the dispatches of a segment.
package struct GPUKernels<Target: GPUTarget>: KernelFamily {
  package let target: Target
  private let trust: KernelTrust
  private let table: GPUKernelTable<Target>

  /// - Parameter trust: the kernels whose results are wrong on the device.
  package init(_ target: Target, trust: KernelTrust) {
    self.target = target
    self.trust = trust
    table = kernelTable(of: Target.self)
  }

  /// - Throws: `.unsupported` if no kernel runs this node.
  package func offers(for request: KernelRequest) throws(DeviceError) -> [GPUOffer<Target>] {
    let (node, context) = (request.node, KernelContext(request, target.reaching(request.precision)))
    if overflowsHalves(node, precision: request.precision) {
      throw context.unsupported("integer sums that exceed float16")
    }
    guard table.contains(node.op) else {
      throw context.unsupported(leftToHost[node.op.name] ?? "no kernel for \(node.op.name)")
    }
    if let fault = trust.fault(of: node.op, context.storedInputs) { throw context.unsupported(fault) }
    for type in context.inputs + context.outputs where type.scalar == .float64 {
      throw context.unsupported("float64 values")
    }
    guard var offers = try table.offers(for: node.op, context) else {
      throw context.unsupported("no kernel for \(node.op.name)")
    }
    if let fault = context.iterationLimitViolation { throw context.unsupported(fault) }
    if let fault = context.memoryFault { throw context.unsupported(fault) }
    if context.roundsFloats { for index in offers.indices { offers[index].precision = .low } }
    let faults = offers.map { trust.fault(of: node.op, context.storedInputs, implementation: $0.key) }
    offers = zip(offers, faults).filter { $0.1 == nil }.map(\.0)
    if offers.isEmpty, let fault = faults.first ?? nil { throw context.unsupported(fault) }
    guard let fault = context.sizeFault else { return offers }
    let unbounded = offers.filter { $0.kernel.takesAnySize && $0.layouts == .dense }
    guard !unbounded.isEmpty else { throw context.unsupported(fault) }
    return unbounded
  }

  package func storedInputs(of node: Node, in graph: Graph, precision: Precision) -> [TensorType] {
    KernelContext(KernelRequest(node, in: graph, precision: precision), target.reaching(precision)).storedInputs
  }

  /// Returns the graph of a node's parts if a tensor is too large for kernels. For a fused node whose parts the device
  /// does not support, it returns the node's fused body.
  package func body(of node: Node, in graph: Graph, precision: Precision) -> Graph? {
    guard !overflowsHalves(node, precision: precision) else { return nil }
    let context = KernelContext(KernelRequest(node, in: graph), target)
    guard let parts = context.parts else { return node.body }
    guard let body = node.body, support(for: parts, of: node, in: graph, precision: .full) != .supported else {
      return parts
    }
    return body
  }

  /// Whether values inside a node exceed float16, in which the device would store them.
  private func overflowsHalves(_ node: Node, precision: Precision) -> Bool {
    node.op is LinearInteger && target.reaching(precision).isHalf(.float32)
  }

  /// Returns the dispatches of a segment, and the weights that they read.
  package func lower(_ segment: Segment) throws(DeviceError) -> (LoweredSegment<Target>, SegmentPacking) {
    try lower(try selection(for: segment), segment)
  }

  /// Returns the bytes of the weights that a node compiled alone reads, by key (`Device.packedByteCounts`).
  package func packedByteCounts(of node: Node, in graph: Graph, precision: Precision) -> [String: Int]? {
    let segment = Segment(
      graph: graph.alone(node), precision: precision, threads: 1, isDeterministic: true,
      weights: MemoryPackedWeights(), blobs: NoBlobCache())
    return (try? lower(segment))?.1.byteCounts
  }

  /// Returns the dispatches of a segment for a given selection of kernels, and the weights that they read.
  ///
  /// - Parameter isTrial: whether the dispatches that convert the operands and results of the only node are not counted
  ///   for the node.
  package func lower(
    _ selection: KernelSelection<NodeLowering<Target>>, _ segment: Segment, isTrial: Bool = false
  ) throws(DeviceError) -> (LoweredSegment<Target>, SegmentPacking) {
    let lowering = Lowering(
      selection.graph, target.reaching(segment.precision), layouts: selection.offers.map(\.layouts))
    if isTrial, let node = selection.graph.nodes.first {
      for (place, id) in node.inputs.enumerated() where selection.graph[id].weight == nil {
        _ = try lowering.read(id, selection.offers[0].layouts.read(place))
      }
    }
    let first = lowering.dispatches.count
    for (index, offer) in selection.offers.enumerated() {
      DriverThread.beat()
      lowering.begin(index)
      try offer.kernel.lower(lowering)
    }
    let counted = isTrial ? first..<lowering.dispatches.count : nil
    try lowering.finish()
    let packing = SegmentPacking(
      lowering.weights, nodeCount: selection.offers.count, of: segment, device: target.device)
    return (LoweredSegment(lowering, selection, counted: counted), packing)
  }
}

/// The reasons why some operators run on the host. The operators' page lists the host's times.
private let leftToHost = [
  "non_maximum_suppression": "the choice of each box depends on the boxes kept before it",
  "non_zero": "the output size depends on data",
  "random_key": "the host keeps the run counter",
  "recurrence": "each step depends on the previous one",
  "unique": "the output size depends on data",
]

/// A segment as dispatches that share one block of scratch memory.
package struct LoweredSegment<Target: GPUTarget>: Sendable {
  package let dispatches: [Dispatch<Target.Program>]
  /// The offset of each scratch value in the scratch memory, in bytes.
  package let scratchOffsets: [Int]
  package let scratchByteCount: Int
  /// For each dispatch, the node of the segment's graph that it counts for.
  package let nodes: [String]
  /// The selected kernels, by node of the segment's graph.
  package let kernels: [String: String]

  /// - Parameter counted: the dispatches that count for a node; nil for all of them.
  fileprivate init(
    _ lowering: Lowering<Target>, _ selection: KernelSelection<NodeLowering<Target>>, counted: Range<Int>?
  ) {
    dispatches = lowering.dispatches
    kernels = selection.names
    let parents = selection.expanded.parents
    nodes = dispatches.enumerated().map { index, dispatch in
      parents.indices.contains(dispatch.node) && counted?.contains(index) ?? true ? parents[dispatch.node] : ""
    }
    var lifetimes: [ClosedRange<Int>?] = lowering.scratch.map { _ in nil }
    for (index, dispatch) in dispatches.enumerated() {
      for storage in dispatch.storages {
        guard case .scratch(let value) = storage.place else { continue }
        lifetimes[value] = (lifetimes[value]?.lowerBound ?? index)...index
      }
    }
    let plan = ArenaPlan(
      zip(lowering.scratch, lifetimes).map { size, steps in
        ArenaPlan.Lifetime(byteCount: steps == nil ? 0 : size, steps: steps ?? 0...0)
      })
    scratchOffsets = plan.offsets
    scratchByteCount = plan.byteCount
  }
}

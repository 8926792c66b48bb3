package import KelvinDevices
package import KelvinGraph

/// Adds one node's dispatches to a segment.
package struct NodeLowering<Target: GPUTarget> {
  package let lower: (Lowering<Target>) throws(DeviceError) -> Void

  package init(_ lower: @escaping (Lowering<Target>) throws(DeviceError) -> Void) { self.lower = lower }
}

typealias GPUKernelTable<Target: GPUTarget> = KernelTable<KernelContext<Target>, NodeLowering<Target>>

/// The kernels of one device: which nodes it runs, and the dispatches of a segment of them.
package struct GPUKernels<Target: GPUTarget>: Sendable {
  package let target: Target
  private let table: GPUKernelTable<Target>

  package init(_ target: Target) {
    self.target = target
    table = kernelTable(of: Target.self)
  }

  /// - Throws: `.unsupported` where no kernel runs this very node.
  package func lowering(of node: Node, in graph: Graph) throws(DeviceError) -> NodeLowering<Target> {
    let context = KernelContext(node, graph, target)
    guard table.contains(node.op) else { throw context.unsupported("no kernel for \(node.op.name)") }
    for type in context.inputs + context.outputs where type.scalar == .float64 {
      throw context.unsupported("float64 values")
    }
    guard let lowering = try table.kernel(for: node.op, context) else {
      throw context.unsupported("no kernel for \(node.op.name)")
    }
    try target.checkSizes(context)
    return lowering
  }

  /// The dispatches of an expanded segment.
  ///
  /// - Parameter pack: brings a weight to the device, by a key, a size in bytes and what fills it.
  package func lower(_ segment: Segment, _ expanded: ExpandedGraph, pack: @escaping Lowering<Target>.Packing)
    throws(DeviceError) -> LoweredSegment<Target>
  {
    let lowering = Lowering(expanded.graph, target, pack: pack)
    for (index, node) in expanded.graph.nodes.enumerated() {
      try segment.begin(node: index, of: expanded.graph.nodes.count, device: target.device)
      lowering.begin(index)
      try self.lowering(of: node, in: expanded.graph).lower(lowering)
    }
    try lowering.finish()
    return LoweredSegment(lowering, parents: expanded.parents)
  }
}

/// A segment as dispatches on one block of scratch memory.
package struct LoweredSegment<Target: GPUTarget>: Sendable {
  package let dispatches: [Dispatch<Target.Program>]
  package let weights: [Target.Weight]
  /// Where each scratch value starts in the scratch memory.
  package let scratchOffsets: [Int]
  package let scratchByteCount: Int
  /// For each dispatch, the node of the segment's graph that it counts for.
  package let nodes: [String]

  fileprivate init(_ lowering: Lowering<Target>, parents: [String]) {
    dispatches = lowering.dispatches
    weights = lowering.weights
    nodes = dispatches.map { parents.indices.contains($0.node) ? parents[$0.node] : "" }
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

internal import KelvinDevices
internal import KelvinGraph

/// The axes that indices of a gather or scatter refer to.
struct IndexedAxes {
  /// The largest number of axes that kernels index.
  static let limit = 8

  /// The number of indices of a slice.
  let depth: Int
  /// The extents of the indexed axes, then their strides, each followed by ones up to the limit.
  let parameters: [Int]

  init<Target>(_ axes: Range<Int>, of x: Shape, _ context: KernelContext<Target>) throws(DeviceError) {
    guard axes.count <= Self.limit else {
      throw context.unsupported("indices into more than \(Self.limit) axes")
    }
    let rest = [Int](repeating: 1, count: Self.limit - axes.count)
    depth = axes.count
    parameters = axes.map { x[$0] } + rest + axes.map { x.strides[$0] } + rest
  }
}

extension KernelTable {
  mutating func addGatherND<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(GatherND.self) { op, context throws(DeviceError) in
      let (x, indices) = (context.inputs[0].shape, context.inputs[1].shape)
      let batch = op.batchDimensions
      let axes = try IndexedAxes(batch..<batch + indices[indices.rank - 1], of: x, context)
      let slices = indices.dimensions[batch..<indices.rank - 1].reduce(1, *)
      return context.dense(
        GPUKernel(
          "gather_nd", [.moved(context.inputs[0].scalar), .index(context.inputs[1].scalar)],
          reads: [.elements, .indices],
          Parameters([slices, x.dimensions[batch...].reduce(1, *), axes.depth] + axes.parameters),
          rows: indices.dimensions.dropLast().reduce(1, *), of: x.dimensions[(batch + axes.depth)...].reduce(1, *)))
    }
  }
}

internal import KelvinDevices
package import KelvinGraph

/// Slices of a dense tensor, each given by a row of indices into its first axes after the batch axes.
package struct GatherNDPlan: Sendable {
  /// The largest number of axes that kernels index.
  package static let limit = 8

  /// Elements of a slice.
  package let inner: Int
  /// The number of slices in one batch, and in all batches.
  package let rows: Int
  package let slices: Int
  package let batchStride: Int
  /// The number of indices in a row.
  package let depth: Int
  /// The extents of the indexed axes, followed by ones up to the limit.
  package let extents: [Int]
  package let strides: [Int]
  package let scalar: ScalarType
  package let index: ScalarType
}

extension KernelTable {
  mutating func addGatherND<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(GatherND.self) { op, context throws(DeviceError) in
      let (x, indices) = (context.inputs[0].shape, context.inputs[1].shape)
      let depth = indices[indices.rank - 1]
      guard depth <= GatherNDPlan.limit else {
        throw context.unsupported("indices into more than \(GatherNDPlan.limit) axes")
      }
      let batch = op.batchDimensions
      let axes = batch..<batch + depth
      let rest = [Int](repeating: 1, count: GatherNDPlan.limit - depth)
      let plan = GatherNDPlan(
        inner: x.dimensions[axes.upperBound...].reduce(1, *),
        rows: indices.dimensions[batch..<indices.rank - 1].reduce(1, *),
        slices: indices.dimensions.dropLast().reduce(1, *), batchStride: x.dimensions[batch...].reduce(1, *),
        depth: depth, extents: axes.map { x[$0] } + rest, strides: axes.map { x.strides[$0] } + rest,
        scalar: context.inputs[0].scalar, index: context.inputs[1].scalar)
      return context.dense(context.target.gatherND(plan))
    }
  }
}

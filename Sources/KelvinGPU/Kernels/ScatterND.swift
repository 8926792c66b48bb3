internal import KelvinDevices
package import KelvinGraph

/// Slices of dense y, which is x at first, each given by a tuple of indices into its first axes, combined with updates.
/// The positions of a slice share no element, so one invocation processes a position alone and in the order of the
/// tuples.
package struct ScatterNDPlan: Sendable {
  /// Elements of a slice.
  package let inner: Int
  package let tuples: Int
  /// The number of indices in a tuple.
  package let depth: Int
  /// The extents of the indexed axes, followed by ones up to `GatherNDPlan.limit`.
  package let extents: [Int]
  package let strides: [Int]
  package let reduction: ScatterReduction
  package let scalar: ScalarType
  package let index: ScalarType
}

extension KernelTable {
  mutating func addScatterND<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(ScatterND.self) { op, context throws(DeviceError) in
      let (x, indices) = (context.inputs[0].shape, context.inputs[1].shape)
      let depth = indices[indices.rank - 1]
      guard depth <= GatherNDPlan.limit else {
        throw context.unsupported("indices into more than \(GatherNDPlan.limit) axes")
      }
      let rest = [Int](repeating: 1, count: GatherNDPlan.limit - depth)
      let plan = ScatterNDPlan(
        inner: x.dimensions[depth...].reduce(1, *), tuples: indices.dimensions.dropLast().reduce(1, *), depth: depth,
        extents: Array(x.dimensions[..<depth]) + rest, strides: Array(x.strides[..<depth]) + rest,
        reduction: op.reduction, scalar: context.inputs[0].scalar, index: context.inputs[1].scalar)
      return context.scattering(context.target.scatterND(plan))
    }
  }
}

internal import KelvinDevices
package import KelvinGraph

/// `y[…, i, …] = x[…, indices[…, i, …], …]` of dense tensors.
package struct GatherElementsPlan: Sendable {
  /// The iteration over the indices; the strides are x's, 0 along the axis.
  package let iteration: StridedIteration
  /// The axis's size and stride in x.
  package let extent: Int
  package let step: Int
  package let scalar: ScalarType
  package let index: ScalarType
}

extension KernelTable {
  mutating func addGatherElements<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(GatherElements.self) { op, context throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      var strides = x.shape.strides
      let step = strides[op.axis]
      strides[op.axis] = 0
      let plan = GatherElementsPlan(
        iteration: StridedIteration(indices.shape, strides: [strides]), extent: x.shape[op.axis], step: step,
        scalar: x.scalar,
        index: indices.scalar)
      try plan.iteration.check(context)
      return context.dense(context.target.gatherElements(plan))
    }
  }
}

internal import KelvinDevices
internal import KelvinGraph

extension GPUKernel {
  /// The kernel of `y[…, i, …] = x[…, indices[…, i, …], …]` of dense tensors.
  ///
  /// - Parameters:
  ///   - iteration: the iteration over the indices; the strides are x's, 0 along the axis.
  ///   - extent: the axis's size in x, and `step` its stride.
  init(gathering scalar: ScalarType, _ iteration: StridedIteration, extent: Int, step: Int, by index: ScalarType) {
    self.init(
      "gather_elements", [.moved(scalar), .index(index)], reads: [.elements, .indices], Parameters(extent, step),
      over: iteration)
  }
}

extension KernelTable {
  mutating func addGatherElements<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(GatherElements.self) { op, context throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      var strides = x.shape.strides
      let step = strides[op.axis]
      strides[op.axis] = 0
      let iteration = StridedIteration(indices.shape, strides: [strides])
      try iteration.check(context)
      return context.dense(
        GPUKernel(gathering: x.scalar, iteration, extent: x.shape[op.axis], step: step, by: indices.scalar))
    }
  }
}

internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addPool<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Pool.self) { op, context throws(DeviceError) in
      let x = context.inputs[0]
      guard x.scalar.isFloatingPoint, op.window.rank <= 2 else {
        let window = try SpatialWindow(op.window, axes: 3, context)
        let kernel = GPUKernel(
          "pool_volume", [.number(x.scalar)], reads: [.elements],
          Parameters(
            window.output + window.input + window.geometry + window.after
              + [op.function == .maximum ? 1 : 0, op.function == .averageIncludingPadding ? 1 : 0]),
          of: x.shape[0] * x.shape[1] * window.outputCount, cost: 16)
        return [KernelOffer(context.dense(kernel), "volume")]
      }
      let window = try SpatialWindow(op.window, axes: 2, context)
      let shape = BlockedShape(context.inputs[0].shape, lanes: context.target.lanes)
      return [context.blocked(context.target.pool(op.function, window, planes: shape.batch * shape.blocks))]
    }
  }
}

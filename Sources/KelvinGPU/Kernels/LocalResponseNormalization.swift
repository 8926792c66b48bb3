internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addLocalResponseNormalization<Target>()
  where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(LocalResponseNormalization.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let shape = BlockedShape(context.inputs[0].shape, lanes: context.target.lanes)
      let reach = [(op.size - 1) / 2, op.size / 2].map { min($0, shape.channels) }
      let kernel = GPUKernel(
        "local_response_normalization", reads: [.blocks],
        Parameters([shape.blocks, shape.channels] + reach).floats(op.k, op.alpha / Float(op.size), op.beta),
        rows: shape.batch * shape.blocks, of: shape.area, cost: shape.lanes)
      return [context.blocked(kernel)]
    }
  }
}

internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addLocalResponseNormalization<Target>()
  where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(LocalResponseNormalization.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let shape = BlockedShape(context.inputs[0].shape, lanes: context.target.lanes)
      return [context.blocked(context.target.localResponseNormalization(op, shape))]
    }
  }
}

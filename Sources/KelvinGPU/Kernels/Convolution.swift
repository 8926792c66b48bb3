internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addConvolution<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Convolution.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      return try context.target.offers(op, try PlaneWindow(op.window, context), context)
    }
  }
}

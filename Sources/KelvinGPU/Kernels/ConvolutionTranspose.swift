internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addConvolutionTranspose<Target>()
  where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(ConvolutionTranspose.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      return context.target.offers(op, try PlaneWindow(op.window, context), context)
    }
  }
}

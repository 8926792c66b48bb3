internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addConvolutionTranspose<Target>()
  where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(ConvolutionTranspose.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      guard op.window.rank <= 2 else {
        return [KernelOffer(try context.volume(op.window, groups: op.groups, Epilogue(), isTransposed: true), "volume")]
      }
      return context.target.offers(op, try SpatialWindow(op.window, axes: 2, context), context)
    }
  }
}

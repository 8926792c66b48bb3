internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addConvolution<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Convolution.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      guard op.window.rank <= 2 else {
        let volume = try context.volume(op.window, groups: op.groups, op.epilogue, isTransposed: false)
        return [KernelOffer(volume, "volume")]
      }
      return try context.target.offers(op, try SpatialWindow(op.window, axes: 2, context), context)
    }
  }
}

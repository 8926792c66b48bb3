internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addBatchNormalization<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(BatchNormalization.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      try context.requireConstants(1..<5, "statistics")
      return context.target.offers(op, context)
    }
  }
}

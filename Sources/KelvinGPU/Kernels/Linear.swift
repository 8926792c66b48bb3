internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addLinear<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Linear.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      try context.requireConstants(1..<2, "weights")
      if op.epilogue.hasBias { try context.requireConstants(2..<3, "biases") }
      return context.target.offers(op, context)
    }
  }
}

internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addConvolution<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Convolution.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      return try context.target.lower(op, try PlaneWindow(op.window, context), context)
    }
  }
}

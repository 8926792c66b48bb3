internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addReshape<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Reshape.self) { _, context throws(DeviceError) in context.renaming() }
  }
}

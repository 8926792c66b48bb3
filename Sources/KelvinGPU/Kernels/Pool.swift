internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addPool<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Pool.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let window = try PlaneWindow(op.window, context)
      let shape = BlockedShape(context.inputs[0].shape, lanes: context.target.lanes)
      return [context.blocked(context.target.pool(op.function, window, planes: shape.batch * shape.blocks))]
    }
  }
}

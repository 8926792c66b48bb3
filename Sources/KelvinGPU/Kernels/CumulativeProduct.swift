internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addCumulativeProduct<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(CumulativeProduct.self) { op, context throws(DeviceError) in
      let lines = Lines(context.inputs[0].shape, axis: op.axis)
      return context.dense(context.target.cumulativeProduct(op, lines, of: context.inputs[0].scalar))
    }
  }
}

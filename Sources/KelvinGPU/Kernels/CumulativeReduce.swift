internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addCumulativeReduce<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(CumulativeReduce.self) { op, context throws(DeviceError) in
      let lines = Lines(context.inputs[0].shape, axis: op.axis)
      return context.dense(context.target.cumulativeReduce(op, lines, of: context.inputs[0].scalar))
    }
  }
}

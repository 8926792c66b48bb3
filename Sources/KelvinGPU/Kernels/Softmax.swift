internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addSoftmax<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Softmax.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      return context.dense(context.target.softmax(Lines(context.inputs[0].shape, axis: op.axis)))
    }
  }
}

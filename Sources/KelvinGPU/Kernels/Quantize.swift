internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addQuantize<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Quantize.self) { op, context throws(DeviceError) in
      try context.requireFloats([context.inputs[0], context.inputs[1]])
      return context.scaling("quantize", op.axis, of: op.scalar, reading: .words)
    }
  }
}

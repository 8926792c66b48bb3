internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addDequantize<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Dequantize.self) { op, context throws(DeviceError) in
      try context.requireFloats([context.outputs[0], context.inputs[1]])
      return context.scaling("dequantize", op.axis, of: context.inputs[0].scalar, reading: .elements)
    }
  }
}

import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addDequantize() {
    add(Dequantize.self) { op, context throws(DeviceError) in
      try context.requireFloats(context.outputs)
      return try context.kernel(
        "dequantize", op.axis, constants: [try context.element(context.inputs[0]).kind.rawValue])
    }
  }
}

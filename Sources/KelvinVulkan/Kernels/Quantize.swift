import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addQuantize() {
    add(Quantize.self) { op, context throws(DeviceError) in
      try context.requireFloats([context.inputs[0]])
      let element = try context.element(context.outputs[0])
      return try context.kernel("quantize", op.axis, constants: [element.kind.rawValue, element.bits])
    }
  }
}

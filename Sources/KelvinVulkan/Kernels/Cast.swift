import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addCast() {
    add(Cast.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let node = context.node
      let rounds = context.inputs[0].scalar == .float32 && op.scalar == .float16
      return Kernel { builder throws(DeviceError) in
        guard rounds else { return try builder.rename(node.inputs[0], to: node.outputs[0]) }
        try builder.apply(code: 254, a: 0, b: 0, to: node.inputs[0], giving: node.outputs[0])
      }
    }
  }
}

import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addSelect() {
    add(Select.self) { _, context throws(DeviceError) in
      let isPair = try context.element(context.outputs[0]).isPair
      let walk = Walk(context.outputs[0].shape, context.inputs.map(\.shape))
      try walk.check(context)
      let node = context.node
      return Kernel { builder throws(DeviceError) in
        try builder.combine("select", walk, constants: [isPair ? 1 : 0], node)
      }
    }
  }
}

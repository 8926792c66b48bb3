import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addCompare() {
    add(Compare.self) { op, context throws(DeviceError) in
      let element = try context.element(context.inputs[0])
      let walk = Walk(context.outputs[0].shape, context.inputs.map(\.shape))
      try walk.check(context)
      let node = context.node
      return Kernel { builder throws(DeviceError) in
        try builder.combine("compare", walk, constants: [Int(op.code), element.kind.rawValue], node)
      }
    }
  }
}

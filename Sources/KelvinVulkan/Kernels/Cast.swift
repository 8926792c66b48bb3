import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addCast() {
    add(Cast.self) { op, context throws(DeviceError) in
      let node = context.node
      let (from, to) = (try context.element(context.inputs[0]), try context.element(context.outputs[0]))
      if from.kind != .float || to.kind != .float {
        let isSame = context.inputs[0].scalar == op.scalar
        return Kernel { builder throws(DeviceError) in
          if isSame { return try builder.rename(node.inputs[0], to: node.outputs[0]) }
          builder.cast(
            try builder.elements(node.inputs[0]), from, to, count: context.outputs[0].count,
            to: try builder.write(node.outputs[0], .dense))
        }
      }
      let rounds = context.inputs[0].scalar == .float32 && op.scalar == .float16
      return Kernel { builder throws(DeviceError) in
        guard rounds else { return try builder.rename(node.inputs[0], to: node.outputs[0]) }
        try builder.apply(
          code: Int(UnaryFunction.roundsToHalfCode), a: 0, b: 0, to: node.inputs[0], giving: node.outputs[0])
      }
    }
  }
}

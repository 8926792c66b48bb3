internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addCast<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Cast.self) { op, context throws(DeviceError) in
      let (from, to) = (context.inputs[0].scalar, op.scalar)
      let (node, count) = (context.node, context.outputs[0].count)
      // Floats are float32 inside.
      if from == to || (from == .float16 && to == .float32) {
        return NodeLowering { lowering throws(DeviceError) in try lowering.rename(node.inputs[0], to: node.outputs[0]) }
      }
      if from == .float32, to == .float16 { return context.dense(context.target.roundToHalf(count: count)) }
      return context.dense(context.target.cast(from, to: to, count: count))
    }
  }
}

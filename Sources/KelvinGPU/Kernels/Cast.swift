internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addCast<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Cast.self) { op, context throws(DeviceError) in
      let (from, to) = (context.inputs[0].scalar, op.scalar)
      let count = context.outputs[0].count
      if from == to || (from == .float16 && to == .float32 && !context.target.storesHalves) {
        return context.renaming()
      }
      if context.target.storesHalves, from.isFloatingPoint, to.isFloatingPoint {
        let node = context.node
        return [
          KernelOffer(
            NodeLowering { lowering throws(DeviceError) in
              let x = try lowering.read(node.inputs[0], .dense)
              lowering.convert(x, lowering.write(node.outputs[0], .dense), count: count)
            })
        ]
      }
      let isRounding = from == .float32 && to == .float16
      let call = isRounding ? context.target.roundToHalf(count: count) : context.target.cast(from, to: to, count: count)
      return [KernelOffer(context.dense(call))]
    }
  }
}

internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addCast<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Cast.self) { op, context throws(DeviceError) in
      let (from, to, target) = (context.inputs[0].scalar, op.scalar, context.target)
      let count = context.outputs[0].count
      let (wasHalf, isHalf) = (target.isHalf(from), target.isHalf(to))
      let isRounding = from == .float32 && to == .float16
      let areFloats = from.isFloatingPoint && to.isFloatingPoint
      if from == to || (areFloats && wasHalf == isHalf && (isHalf || !isRounding)) { return context.renaming() }
      if areFloats, wasHalf != isHalf {
        let node = context.node
        return [
          KernelOffer(
            NodeLowering { lowering throws(DeviceError) in
              let x = try lowering.read(node.inputs[0], .dense)
              lowering.convert(x, lowering.write(node.outputs[0], .dense), count: count)
            })
        ]
      }
      let kernel = GPUKernel("cast", [.number(from), .cast(from: from, to: to)], reads: [.elements], of: count)
      return [KernelOffer(context.dense(kernel))]
    }
  }
}

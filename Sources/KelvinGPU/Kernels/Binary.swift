internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addBinary<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Binary.self) { op, context throws(DeviceError) in
      let iteration = StridedIteration(context.outputs[0].shape, context.inputs.map(\.shape))
      try iteration.check(context)
      let scalar = context.inputs[0].scalar
      guard scalar.isFloatingPoint else {
        let kernel = GPUKernel(
          "binary_of_integers", [.number(scalar)], constants: [("SELECTED", Int(op.code))],
          reads: [.elements, .elements], Parameters(Int(op.code)), over: iteration)
        return [KernelOffer(context.dense(kernel))]
      }
      return context.target.offers(op, iteration, context)
    }
  }
}

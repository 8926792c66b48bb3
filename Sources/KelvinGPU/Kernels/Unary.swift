internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addUnary<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Unary.self) { op, context throws(DeviceError) in
      let scalar = context.inputs[0].scalar
      guard scalar.isFloatingPoint else {
        guard op.function.kind.keepsIntegers else {
          throw context.unsupported("\(op.function.kind.rawValue) of \(scalar.rawValue) values")
        }
        let code = Int(op.function.code)
        var parameters = Parameters(code)
        for bound in [op.function.a, op.function.b] {
          parameters.add(wide: UInt64(bitPattern: Int64(Int(saturating: Double(bound)))))
        }
        let kernel = GPUKernel(
          "unary_of_integers", [.number(scalar)], constants: [("SELECTED", code)], reads: [.elements], parameters,
          of: context.outputs[0].count)
        return [KernelOffer(context.dense(kernel))]
      }
      let target = context.target
      let shape = context.inputs[0].shape
      let dense = KernelOffer(context.dense(.unary(op.function, count: shape.count)))
      // Lanes beyond the channels would become f of their contents.
      guard target.blocks.fits(shape), context.fillsBlocks || !target.clearsLanes else {
        return [dense]
      }
      return [dense, context.blocked(.unary(op.function, count: target.blocks.count(of: shape)))]
    }
  }
}

import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addLocalResponseNormalization() {
    add(LocalResponseNormalization.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let node = context.node
      let shape = BlockedShape(context.inputs[0].shape)
      var parameters = Parameters()
      parameters.add(shape.count, shape.area, shape.blocks, shape.channels)
      parameters.add(min((op.size - 1) / 2, shape.channels), min(op.size / 2, shape.channels))
      parameters.add(op.k, op.alpha / Float(op.size), op.beta)
      parameters.addInverses(shape.area, shape.blocks)
      let finished = parameters
      return Kernel { builder throws(DeviceError) in
        let x = try builder.read(node.inputs[0], .blocked)
        builder.dispatchFlat(
          "local_response_normalization", finished, count: shape.count, reads: [Operand(region: x, format: .float4)],
          write: try builder.write(node.outputs[0], .blocked))
      }
    }
  }
}

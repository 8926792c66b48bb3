internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addLinear() {
    add(Linear.self) { op, context throws(DeviceError) in
      try context.checkFloats()
      try context.checkConstant(1, "weights")
      if op.epilogue.hasBias { try context.checkConstant(2, "biases") }
      let weights = context.inputs[1].shape
      let rows = context.inputs[0].shape.dimensions.dropLast().reduce(1, *)
      return Emitter { lowering throws(DeviceError) in
        let y = lowering.node.outputs[0]
        let product = ConvolutionPlan(linearRows: rows, channels: weights[1], outputs: weights[0])
        let source = try lowering.place(lowering.node.inputs[0], .dense)
        let residual = op.epilogue.addsResidual ? try lowering.residual(.dense) : nil
        let target = lowering.make(y, .dense)
        try lowering.convolve(product, op.epilogue, source, residual: residual, target, count: lowering.type(y).count)
      }
    }
  }
}

internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func offers(_ op: Linear, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    let weights = context.inputs[1].shape
    let rows = context.inputs[0].shape.dimensions.dropLast().reduce(1, *)
    let product = ConvolutionPlan(linearRows: rows, channels: weights[1], outputs: weights[0])
    let node = context.node
    let kernel = NodeLowering<Self> { lowering throws(DeviceError) in
      let source = try lowering.read(node.inputs[0], .dense)
      let residual = try lowering.residual(op.epilogue, .dense)
      let (y, count) = (node.outputs[0], lowering.type(node.outputs[0]).count)
      try lowering.convolve(product, op.epilogue, source, residual: residual, lowering.write(y, .dense), count: count)
    }
    return [KernelOffer(kernel)]
  }
}

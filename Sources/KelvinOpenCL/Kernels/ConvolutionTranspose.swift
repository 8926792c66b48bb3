internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func offers(_ op: ConvolutionTranspose, _ window: SpatialWindow, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    let (inputs, outputs) = (context.inputs[0].shape[1], context.outputs[0].shape[1])
    if context.isConstant(1), op.groups > 1, op.groups == inputs, outputs == inputs {
      return [
        context.blocked(
          NodeLowering { lowering throws(DeviceError) in try lowering.transposedDepthwise(window) }, "depthwise")
      ]
    }
    if context.isConstant(1), op.groups == 1, let phases = TransposedPhases(window) {
      return [
        context.blocked(
          NodeLowering { lowering throws(DeviceError) in try lowering.transposed(window, phases) }, "tiles")
      ]
    }
    let call = transposed(
      window, images: context.inputs[0].shape[0], inputs: inputs, outputs: outputs, groups: op.groups)
    return [KernelOffer(context.dense(call), "general")]
  }
}

extension OpenCLLowering {
  /// Adds an ordinary convolution for each phase of the stride, on blocked tensors.
  fileprivate func transposed(_ window: SpatialWindow, _ phases: TransposedPhases) throws(DeviceError) {
    let (x, y) = (node.inputs[0], node.outputs[0])
    let plan = ConvolutionPlan(
      window, phases: phases, images: type(x).shape[0], channels: type(x).shape[1], outputs: type(y).shape[1],
      blocks: target.blocks)
    let source = try read(x, target.blocks)
    try convolve(plan, Epilogue(), source, residual: nil, write(y, target.blocks), count: blocked(y).count)
  }

  /// Adds the kernel for one filter for each channel, on blocked tensors.
  fileprivate func transposedDepthwise(_ window: SpatialWindow) throws(DeviceError) {
    let (x, y) = (node.inputs[0], node.outputs[0])
    let (images, channels) = (type(x).shape[0], type(x).shape[1])
    let blocks = target.tuning.blocks(channels)
    let weights = try depthwiseWeights(channels: channels, taps: window.taps)
    let (columns, parts) = target.columns(window)
    let call = target.call(
      KernelName(program: "convolution_transpose", function: "depthwise_transpose"),
      Parameters(window.transposedGeometry + [blocks, columns, parts]), items: window.output[0] * parts, blocks, images)
    run(call, [try read(x, target.blocks), weights], write(y, target.blocks))
  }
}

extension OpenCLTarget {
  /// Returns the kernel for any groups and weights, on dense tensors.
  fileprivate func transposed(_ window: SpatialWindow, images: Int, inputs: Int, outputs: Int, groups: Int)
    -> KernelDispatch<
      KernelName
    >
  {
    let (columns, parts) = columns(window)
    return call(
      KernelName(program: "convolution_transpose", function: "convolution_transpose_grouped"),
      Parameters(window.transposedGeometry + [inputs / groups, outputs / groups, groups, columns, parts]),
      items: window.output[0] * parts, images * outputs)
  }

  /// Returns the pixels of a row that one work item computes, a whole number of strides if there are several items.
  fileprivate func columns(_ window: SpatialWindow) -> (columns: Int, parts: Int) {
    let columns = min(tuning.columns * window.strides[1], window.output[1])
    return (columns, pieces(window.output[1], of: max(columns, 1)))
  }
}

extension SpatialWindow {
  fileprivate var transposedGeometry: [Int] { output + input + geometry }
}

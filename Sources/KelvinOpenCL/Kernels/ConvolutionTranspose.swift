internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func offers(_ op: ConvolutionTranspose, _ window: PlaneWindow, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    let (inputs, outputs) = (context.inputs[0].shape[1], context.outputs[0].shape[1])
    let isDepthwise = op.groups > 1 && op.groups == inputs && outputs == inputs
    guard context.isConstant(1), op.groups == 1 || isDepthwise else {
      let call = transposed(
        window, images: context.inputs[0].shape[0], inputs: inputs, outputs: outputs, groups: op.groups)
      return [KernelOffer(context.dense(call))]
    }
    return [
      context.blocked(
        NodeLowering { lowering throws(DeviceError) in try lowering.transposed(window, isDepthwise: isDepthwise) })
    ]
  }
}

extension OpenCLLowering {
  /// On blocked tensors.
  fileprivate func transposed(_ window: PlaneWindow, isDepthwise: Bool) throws(DeviceError) {
    let (x, y) = (node.inputs[0], node.outputs[0])
    let (inputs, outputs) = (type(x).shape[1], type(y).shape[1])
    let blocks = target.tuning.blocks(outputs)
    let weights = try transposedWeights(
      outputs: outputs, taps: window.taps, rows: isDepthwise ? 1 : inputs, isDepthwise: isDepthwise, spare: target.lanes
    )
    let (columns, parts) = target.columns(window)
    let call = target.call(
      KernelName(program: "convolution_transpose", function: "convolution_transpose"),
      Parameters(window.transposedGeometry + [inputs, blocks, columns, parts, isDepthwise ? 1 : 0]),
      items: window.output[0] * parts, blocks, type(x).shape[0])
    run(call, [try read(x, target.blocks), weights], write(y, target.blocks))
  }
}

extension OpenCLTarget {
  /// Any groups and weights, on dense tensors.
  fileprivate func transposed(_ window: PlaneWindow, images: Int, inputs: Int, outputs: Int, groups: Int) -> Call<
    KernelName
  > {
    let (columns, parts) = columns(window)
    return call(
      KernelName(program: "convolution_transpose", function: "convolution_transpose_grouped"),
      Parameters(window.transposedGeometry + [inputs / groups, outputs / groups, groups, columns, parts]),
      items: window.output[0] * parts, images * outputs)
  }

  /// The pixels of a row that one work item computes, a whole number of strides where there are several items.
  fileprivate func columns(_ window: PlaneWindow) -> (columns: Int, parts: Int) {
    let columns = min(tuning.columns * window.strides[1], window.output[1])
    return (columns, pieces(window.output[1], of: max(columns, 1)))
  }
}

extension PlaneWindow {
  fileprivate var transposedGeometry: [Int] { output + input + kernel + strides + dilations + before }
}

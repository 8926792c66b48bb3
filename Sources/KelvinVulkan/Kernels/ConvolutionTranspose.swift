import KelvinDevices
import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func offers(_ op: ConvolutionTranspose, _ window: SpatialWindow, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    let geometry = TransposedGeometry(op, context, window)
    if context.isConstant(1), geometry.isDepthwise {
      return [
        context.blocked(NodeLowering<Self> { lowering throws(DeviceError) in try geometry.lowerDepthwise(lowering) })
      ]
    }
    if context.isConstant(1), op.groups == 1, let phases = TransposedPhases(window) {
      let product = TiledProduct(
        window: window, batch: geometry.batch, groups: 1, inputs: geometry.inputs, outputs: geometry.outputs,
        layout: blocks, registers: traits.convolutionTiles, phases: phases)
      // The sums of shares would have to be spread.
      let staged = product.staged(context, sharesDepth: false)
      let offers = product.offers(beside: staged, Epilogue(), context, extraCost: 0)
      if !offers.isEmpty { return offers }
    }
    return [
      KernelOffer(NodeLowering<Self> { lowering throws(DeviceError) in try geometry.lowerGeneral(lowering) }, "general")
    ]
  }
}

/// The sizes of a transposed convolution over one or two spatial axes, and its implementations without tiles.
private struct TransposedGeometry: Sendable {
  let node: Node
  let window: SpatialWindow
  let batch, inputs, outputs, groups: Int

  init(_ op: ConvolutionTranspose, _ context: KernelContext<VulkanTarget>, _ window: SpatialWindow) {
    node = context.node
    self.window = window
    batch = context.inputs[0].shape[0]
    inputs = context.inputs[0].shape[1]
    outputs = context.outputs[0].shape[1]
    groups = op.groups
  }

  var isDepthwise: Bool { groups > 1 && groups == inputs && outputs == inputs }
  /// The window parameters of the shaders.
  private var geometry: [Int] { window.input + window.geometry }

  /// Adds the kernel for one filter for each channel, on blocked tensors.
  func lowerDepthwise(_ lowering: VulkanLowering) throws(DeviceError) {
    let packed = try lowering.depthwiseWeights(channels: outputs, taps: window.taps)
    let count = batch * ((outputs + 3) / 4) * window.outputCount
    let blocks = (outputs + 3) / 4
    let call = lowering.target.flat(
      "depthwise_transpose", [.float4, .packed4],
      Parameters([count, window.outputCount, window.output[1], outputs, blocks] + geometry).inverses(
        window.outputCount, window.output[1], blocks, window.strides[0], window.strides[1]), count: count)
    let x = try lowering.read(node.inputs[0], lowering.target.blocks)
    lowering.run(call, [x, packed], lowering.write(node.outputs[0], lowering.target.blocks))
  }

  /// Adds the kernel with one invocation for each output, on dense tensors.
  func lowerGeneral(_ lowering: VulkanLowering) throws(DeviceError) {
    let count = batch * outputs * window.outputCount
    let sizes = [count, window.outputCount, window.output[1], outputs, outputs / groups, inputs / groups, inputs]
    try lowering.runDense(
      lowering.target.flat(
        "convolution_transpose_general", [.float, .float],
        Parameters(sizes + geometry).inverses(window.outputCount, window.output[1], outputs), count: count))
  }
}

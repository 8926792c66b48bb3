import KelvinDevices
import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func offers(_ op: ConvolutionTranspose, _ window: PlaneWindow, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    let geometry = TransposedGeometry(op, context, window)
    guard context.isConstant(1), op.groups == 1 || geometry.isDepthwise else {
      return [
        KernelOffer(
          NodeLowering<Self> { lowering throws(DeviceError) in try geometry.lowerGeneral(lowering) }, "general")
      ]
    }
    return [context.blocked(NodeLowering<Self> { lowering throws(DeviceError) in try geometry.lowerBlocked(lowering) })]
  }
}

/// The sizes of a transposed convolution over one or two spatial axes, and its two ways of running.
private struct TransposedGeometry: Sendable {
  let node: Node
  let window: PlaneWindow
  let batch, inputs, outputs, groups: Int

  init(_ op: ConvolutionTranspose, _ context: KernelContext<VulkanTarget>, _ window: PlaneWindow) {
    node = context.node
    self.window = window
    batch = context.inputs[0].shape[0]
    inputs = context.inputs[0].shape[1]
    outputs = context.outputs[0].shape[1]
    groups = op.groups
  }

  var isDepthwise: Bool { groups > 1 && groups == inputs && outputs == inputs }
  /// What the shaders take of the window.
  private var geometry: [Int] { window.input + window.kernel + window.strides + window.dilations + window.before }

  /// Four output channels an invocation, on blocked tensors.
  func lowerBlocked(_ lowering: VulkanLowering) throws(DeviceError) {
    let (inputBlocks, blocks) = ((inputs + 3) / 4, (outputs + 3) / 4)
    let packed = try lowering.transposedWeights(
      outputs: outputs, taps: window.taps, rows: isDepthwise ? 1 : inputBlocks * 4, isDepthwise: isDepthwise, spare: 0)
    let count = batch * blocks * window.outputArea
    let call = lowering.target.flat(
      "convolution_transpose", [.float4, .float4], constants: [isDepthwise ? 1 : 0],
      Parameters([count, window.outputArea, window.output[1], outputs, blocks, inputBlocks] + geometry).inverses(
        window.outputArea, window.output[1], blocks, window.strides[0], window.strides[1]), count: count)
    let x = try lowering.read(node.inputs[0], lowering.target.blocks)
    lowering.run(call, [x, packed], lowering.write(node.outputs[0], lowering.target.blocks))
  }

  /// One output an invocation, on dense tensors.
  func lowerGeneral(_ lowering: VulkanLowering) throws(DeviceError) {
    let count = batch * outputs * window.outputArea
    let sizes = [count, window.outputArea, window.output[1], outputs, outputs / groups, inputs / groups, inputs]
    try lowering.runDense(
      lowering.target.flat(
        "convolution_transpose_general", [.float, .float],
        Parameters(sizes + geometry).inverses(window.outputArea, window.output[1], outputs), count: count))
  }
}

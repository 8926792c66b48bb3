import KelvinDevices
import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func offers(_ op: Convolution, _ window: SpatialWindow, _ context: KernelContext<Self>) throws(DeviceError)
    -> [GPUOffer<Self>]
  {
    let geometry = ConvolutionGeometry(op, context, window)
    typealias Kernel = NodeLowering<Self>
    var offers: [GPUOffer<Self>] = []
    // Only the general kernel takes unpacked weights.
    if context.isConstant(1) {
      // The kernel's loops over the taps are unrolled.
      if op.groups > 1, geometry.groupInputs == 1, geometry.outputs == geometry.inputs, geometry.window.taps <= 49 {
        offers.append(
          context.blocked(Kernel { lowering throws(DeviceError) in try geometry.lowerDepthwise(lowering) }, "depthwise")
        )
      }
      if op.groups == 1 || (geometry.groupInputs % 4 == 0 && geometry.groupOutputs % 4 == 0) {
        if geometry.isVector {
          offers.append(
            context.blocked(Kernel { lowering throws(DeviceError) in try geometry.lowerVector(lowering) }, "vector"))
        } else {
          if let unfolded = UnfoldedConvolution(geometry, context)?.staged(traits) {
            offers.append(
              unfolded.product.alternating(
                context.blocked(unfolded.kernel, UnfoldedConvolution.implementation, reads: unfolded.reads), traits
              ) { tiles in
                let other = unfolded.cut(by: tiles)
                return (other.product, other.kernel)
              })
          }
          let tiles = geometry.tiles(blocks)
          let staged = context.keepsQuantized ? [] : tiles.staged(context)
          let winograd = context.winogradTile.flatMap { WinogradConvolution.best(op, tiles, staged.first, $0, self) }
          let saving = winograd.map { max($0.saving, 0) } ?? (offers.isEmpty ? 0 : Double(geometry.products))
          let direct = tiles.offers(beside: staged, op.epilogue, context, extraCost: saving)
          let transformed = winograd.map { implementation, saving in
            [
              implementation.product(blocks).alternating(
                context.blocked(implementation.kernel, implementation.key, extraCost: max(-saving, 0)), traits
              ) { tiles in
                implementation.cut(by: tiles).map { ($0.product(blocks), $0.kernel) }
              }
            ]
          }
          offers += saving > 0 ? (transformed ?? []) + direct : direct + (transformed ?? [])
        }
      }
    }
    // The general kernel reads every operand of every product from memory.
    offers.append(
      KernelOffer(
        Kernel { lowering throws(DeviceError) in try geometry.lowerGeneral(lowering) }, "general",
        extraCost: offers.isEmpty ? 0 : Double(geometry.products)))
    return offers
  }
}

/// The sizes of a convolution over one or two spatial axes, and its implementations.
struct ConvolutionGeometry: Sendable {
  let op: Convolution
  let node: Node
  let traits: VulkanTraits
  let window: SpatialWindow
  let batch, inputs, outputs, groupInputs, groupOutputs: Int

  init(_ op: Convolution, _ context: KernelContext<VulkanTarget>, _ window: SpatialWindow) {
    self.op = op
    self.window = window
    node = context.node
    traits = context.target.traits
    let (x, weights) = (context.inputs[0].shape, context.inputs[1].shape)
    batch = x[0]
    inputs = x[1]
    outputs = weights[0]
    groupInputs = weights[1]
    groupOutputs = weights[0] / op.groups
  }

  /// Whether the convolution is a product with one or few rows.
  var isVector: Bool { window.isPointwise && window.inputCount == 1 && op.groups == 1 && batch < 4 }

  /// The number of multiplications.
  var products: Int { batch * outputs * window.outputCount * groupInputs * window.taps }

  /// Returns the convolution in register tiles of positions by output channels, on blocked tensors.
  func tiles(_ blocks: ValueLayout) -> TiledProduct {
    TiledProduct(
      window: window, batch: batch, groups: op.groups, inputs: inputs, outputs: outputs, layout: blocks,
      registers: traits.convolutionTiles)
  }

  /// Adds the kernel for one filter for each channel, on blocked tensors.
  func lowerDepthwise(_ lowering: VulkanLowering) throws(DeviceError) {
    let blocks = (inputs + 3) / 4
    let packed = try lowering.depthwiseWeights(channels: inputs, taps: window.taps)
    let x = try lowering.read(node.inputs[0], lowering.target.blocks)
    let bias = try lowering.bias(op.epilogue, channels: inputs)
    let residual = try lowering.residual(op.epilogue, lowering.target.blocks).map { [$0] } ?? []
    let (rows, columns) = (traits.windowRows, traits.windowColumns)
    let tilesX = (window.output[1] + columns - 1) / columns
    let tiles = (window.output[0] + rows - 1) / rows * tilesX
    let planes = batch * blocks
    let parameters = Parameters(
      [blocks, planes] + window.input + window.output + window.before + [tilesX, tiles, inputs])
    let (y, z) = lowering.target.folded(planes)
    let (shader, epilogue) = traits.bounded(traits.variant("depthwise"), op.epilogue)
    let call = lowering.target.call(
      shader, [.float4, .packed4, .float4] + residual.map { _ in .float4 },
      group: traits.tileGroup,
      specializationConstants: [traits.lanes] + window.kernel + window.strides + window.dilations + [
        rows, columns, residual.isEmpty ? 0 : 1, epilogue.activationCode,
      ], parameters.inverses(tilesX).activation(epilogue),
      groups: [(tiles + traits.tileGroup - 1) / traits.tileGroup, y, z])
    lowering.run(call, [x, packed, bias] + residual, lowering.write(node.outputs[0], lowering.target.blocks))
  }

  /// Adds the kernel for a single position, on blocked tensors.
  func lowerVector(_ lowering: VulkanLowering) throws(DeviceError) {
    let rows = RowProduct(vectors: batch, inputs: inputs, outputs: outputs, lanes: lowering.target.lanes)
    try rows.lower(lowering, op.epilogue, lowering.target.blocks)
  }

  /// Adds the kernel with one invocation for each output, on dense tensors.
  func lowerGeneral(_ lowering: VulkanLowering) throws(DeviceError) {
    let x = try lowering.read(node.inputs[0], .dense)
    let weights = try lowering.read(node.inputs[1], .dense)
    let bias = try lowering.bias(op.epilogue, channels: outputs)
    let residual = try lowering.residual(op.epilogue, .dense).map { [$0] } ?? []
    let count = batch * outputs * window.outputCount
    let parameters = Parameters(
      [count, window.outputCount, window.output[1], outputs, groupOutputs, groupInputs, inputs] + window.input
        + window.geometry
    )
    let call = lowering.target.flat(
      "convolution_general", [.float, .float, .float] + residual.map { _ in .float },
      specializationConstants: [residual.isEmpty ? 0 : 1, op.epilogue.activationCode],
      parameters.inverses(window.outputCount, window.output[1], outputs).activation(op.epilogue), count: count)
    lowering.run(call, [x, weights, bias] + residual, lowering.write(node.outputs[0], .dense))
  }
}

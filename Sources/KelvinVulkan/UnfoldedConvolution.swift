import KelvinDevices
import KelvinGPU
import KelvinGraph

/// A convolution of fewer channels than a block has, such as a network's first. Its windows are unfolded into the
/// channels of a pointwise convolution. All lanes of a block are then used, and taps need no bounds checks.
struct UnfoldedConvolution: Sendable {
  /// The key of offers with this implementation.
  static let implementation = "unfolded"

  private let geometry: ConvolutionGeometry
  private(set) var product: TiledProduct
  /// The layouts of the node's inputs.
  let reads: [ValueLayout]

  /// Returns nil if a direct convolution is as fast: for channels that fill a block, or few outputs.
  init?(_ geometry: ConvolutionGeometry, _ context: KernelContext<VulkanTarget>) {
    let (window, traits, blocks) = (geometry.window, geometry.traits, context.target.blocks)
    let channels = geometry.inputs * window.taps
    product = TiledProduct(
      window: SpatialWindow(positions: window.outputCount, axes: 2), batch: geometry.batch, groups: 1, inputs: channels,
      outputs: geometry.outputs, layout: blocks, registers: traits.convolutionTiles)
    let byteCount = 16 * ((channels + 3) / 4) * geometry.batch * window.outputCount
    let repeatsNone = window.dilations == [1, 1] && zip(window.kernel, window.strides).allSatisfy { $0 <= $1 }
    guard geometry.op.groups == 1, geometry.inputs < context.target.lanes, window.taps > 1, product.parts > 1,
      !context.keepsQuantized, repeatsNone || byteCount <= traits.unfoldedLimit ?? 0,
      byteCount <= traits.vectorLimit, product.fits(traits)
    else { return nil }
    self.geometry = geometry
    var reads = context.inputs.map { blocks.fits($0.shape) ? blocks : .dense }
    reads[0] = .dense
    self.reads = reads
  }

  /// Returns the same convolution in other tiles.
  func cut(by tiles: ProductTiles) -> UnfoldedConvolution {
    var convolution = self
    convolution.product = product.cut(by: tiles)
    return convolution
  }

  /// Returns the convolution by staged tiles if the device has them.
  func staged(_ traits: VulkanTraits) -> UnfoldedConvolution {
    var convolution = self
    convolution.product = product.staged(traits) ?? product
    return convolution
  }

  var kernel: NodeLowering<VulkanTarget> {
    NodeLowering { lowering throws(DeviceError) in try lower(lowering) }
  }

  private func lower(_ lowering: VulkanLowering) throws(DeviceError) {
    let (node, target, epilogue) = (lowering.node, lowering.target, geometry.op.epilogue)
    let (window, channels) = (geometry.window, product.inputs)
    let (rows, planes) = ((channels + 3) / 4 * 4, geometry.batch * ((channels + 3) / 4))
    // A filter's channels and taps have the same order as those of windows.
    let weights = try lowering.tiledWeights(
      groups: 1, outputs: geometry.outputs, channels: channels, taps: 1, tile: product.tile, rows: rows,
      parts: product.parts, spare: 0)
    let x = try lowering.read(node.inputs[0], .dense)
    let bias = try lowering.bias(epilogue, channels: product.parts * product.tile)
    let residual = try lowering.residual(epilogue, target.blocks)
    let scalar = lowering.type(node.inputs[0]).scalar
    let windows = lowering.temporary(4 * planes * window.outputCount, of: scalar)
    let (y, z) = target.folded(planes)
    let group = geometry.traits.flatGroup
    let call = target.call(
      geometry.traits.variant("unfold"), [.float], group: group,
      specializationConstants: geometry.traits.usesShuffles ? [geometry.traits.lanes] : [],
      Parameters(
        [window.outputCount, window.output[1], rows / 4, planes, geometry.inputs, window.taps] + window.input
          + [window.kernel[1]] + window.strides + window.dilations + window.before
      ).inverses(window.output[1], rows / 4, window.taps, window.kernel[1]),
      groups: [(window.outputCount + group - 1) / group, y, z])
    lowering.run(call, [x], windows)
    product.run(lowering, windows, weights, bias, residual, epilogue, lowering.write(node.outputs[0], target.blocks))
  }
}

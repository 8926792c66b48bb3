internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

/// A convolution of 3 × 3 taps on blocked tensors by Winograd's tiles. Tiles are transformed to points, multiplied
/// there and transformed back, as many at a time as fit the scratch memory. A last kernel computes results affected by
/// inputs that are not finite from the taps.
struct WinogradConvolution: Sendable {
  private let op: Convolution
  private let plan: WinogradPlan
  private let inputs, outputs: Int
  private let target: OpenCLTarget
  /// The largest number of tiles that are transformed at a time.
  private let slab: Int

  /// Returns the Winograd implementation that is estimated to be faster than the taps, by counts of operations and
  /// bytes, and the multiply-adds that it saves. Returns nil if there is none.
  static func best(
    _ op: Convolution, _ window: SpatialWindow, images: Int, inputs: Int, outputs: Int, _ target: OpenCLTarget
  ) -> (implementation: WinogradConvolution, saving: Double)? {
    let tuning = target.tuning
    guard op.groups == 1, let costs = tuning.winograd, let plan = WinogradPlan(window, images: images, .small),
      plan.tiles > 0
    else { return nil }
    let product = Double(inputs * tuning.blocks(outputs) * tuning.lanes)
    // Kernels count in 32 bits.
    guard product * Double(plan.tile.points) <= Double(1 << 30) else { return nil }
    let numbers = Double(plan.tiles * plan.tile.points * (inputs + outputs))
    let positions = Double((plan.tiles + tuning.pixels - 1) / tuning.pixels * tuning.pixels)
    let direct = product * Double(window.taps * window.outputCount * images)
    let saving = direct - product * Double(plan.tile.points) * positions - numbers * costs.transformCost
    let implementation = WinogradConvolution(op, plan, costs, inputs: inputs, outputs: outputs, target)
    return saving > 0 ? (implementation, saving) : nil
  }

  private init(
    _ op: Convolution, _ plan: WinogradPlan, _ costs: WinogradTuning, inputs: Int, outputs: Int, _ target: OpenCLTarget
  ) {
    self.op = op
    self.plan = plan
    self.inputs = inputs
    self.outputs = outputs
    self.target = target
    let blocks = target.tuning.blocks(inputs) + target.tuning.blocks(outputs)
    slab = plan.slab(byteCount: 4 * plan.tile.points * blocks * target.lanes, limit: costs.scratchLimit)
  }

  func lower(_ lowering: OpenCLLowering) throws(DeviceError) {
    let (node, blocks, tuning) = (lowering.node, target.blocks, target.tuning)
    let x = try lowering.read(node.inputs[0], blocks)
    let residual = try lowering.residual(op.epilogue, blocks) ?? x
    let result = lowering.write(node.outputs[0], blocks)
    let whole = product(slab)
    let variant = whole.variant(tuning)
    let (tile, parts) = (variant.blocks * tuning.lanes, target.pieces(tuning.blocks(outputs), of: variant.blocks))
    let weights = try lowering.winogradWeights(
      plan.tile, outputs: outputs, channels: inputs, tile: tile, rows: inputs, parts: parts, spare: tuning.lanes)
    let bias =
      try op.epilogue.hasBias
      ? lowering.biases(groups: 1, outputs: outputs, count: tuning.blocks(outputs) * tuning.lanes) : weights
    let points = lowering.temporary(plan.tile.points * slab * tuning.blocks(inputs) * tuning.lanes, of: .float32)
    let sums = lowering.temporary(plan.tile.points * slab * tuning.blocks(outputs) * tuning.lanes, of: .float32)
    for first in stride(from: 0, to: plan.tiles, by: slab) {
      let tiles = min(slab, plan.tiles - first)
      lowering.run(call("input", first, tiles, blocks: tuning.blocks(inputs)), [x], points)
      lowering.multiply(product(tiles), Epilogue(), points, weights, bias: nil, residual: nil, sums)
      lowering.run(call("output", first, tiles, blocks: tuning.blocks(outputs)), [sums, bias, residual], result)
    }
    let repair = call("repair", 0, plan.tiles, blocks: tuning.blocks(outputs), parts: parts)
    lowering.run(repair, [x, weights, bias, residual], result)
    lowering.finish(KernelActivation(op.epilogue), result, count: lowering.blocked(node.outputs[0]).count)
  }

  /// Returns the products of tiles at their points, which are groups of a pointwise convolution.
  private func product(_ tiles: Int) -> ConvolutionPlan {
    ConvolutionPlan(
      SpatialWindow(positions: tiles, axes: 2), images: 1, groups: plan.tile.points, channels: inputs,
      outputs: outputs, from: target.blocks, to: target.blocks)
  }

  private func call(
    _ step: String, _ first: Int, _ tiles: Int, blocks: Int, parts: Int = 1
  ) -> KernelDispatch<KernelName> {
    let (window, activation) = (plan.window, KernelActivation(op.epilogue))
    return target.call(
      KernelName(program: "winograd", function: "winograd_\(step)"),
      Parameters(
        [tiles, first, blocks, plan.rows, plan.columns] + window.input + window.output + window.before + [
          inputs, outputs, parts, op.epilogue.hasBias ? 1 : 0, op.epilogue.addsResidual ? 1 : 0, activation.code,
        ]
      ).floats(activation.a, activation.b), items: tiles, blocks)
  }
}

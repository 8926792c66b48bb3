internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

/// A convolution of 3 × 3 taps on blocked tensors by Winograd's tiles. Tiles are brought to their points, multiplied there
/// and brought back, as many at a time as scratch memory is given for; what inputs spoiled that are not finite is computed
/// from the taps in the end.
struct WinogradConvolution: Sendable {
  private let op: Convolution
  private let plan: WinogradPlan
  private let inputs, outputs: Int
  private let target: OpenCLTarget
  /// Tiles that are transformed at a time, at most.
  private let slab: Int

  /// The tiles that are sooner done than the taps, as far as counts of operations and bytes tell, and by how many
  /// multiply-adds; nil where there are none.
  static func best(
    _ op: Convolution, _ window: SpatialWindow, images: Int, inputs: Int, outputs: Int, _ target: OpenCLTarget
  ) -> (way: WinogradConvolution, saving: Double)? {
    guard op.groups == 1 else { return nil }
    let tuning = target.tuning
    let product = Double(inputs * tuning.blocks(outputs) * tuning.lanes)
    let pixels = Double(window.outputCount * images)
    let best = WinogradPlan.best(
      window, images: images, inputs: inputs, sides: tuning.winograd.sides,
      than: product * Double(window.taps) * (pixels + tuning.winograd.weightCost)
    ) { plan in
      // Kernels count in 32 bits.
      guard plan.tiles > 0, product * Double(plan.points) <= Double(1 << 30) else { return nil }
      let numbers = Double(plan.tiles * plan.points * (inputs + outputs))
      let positions = Double((plan.tiles + tuning.pixels - 1) / tuning.pixels * tuning.pixels)
      return product * Double(plan.points) * (positions + tuning.winograd.weightCost)
        + numbers * tuning.winograd.transformCost
    }
    return best.map { (WinogradConvolution(op, $0.plan, inputs: inputs, outputs: outputs, target), $0.saving) }
  }

  private init(_ op: Convolution, _ plan: WinogradPlan, inputs: Int, outputs: Int, _ target: OpenCLTarget) {
    self.op = op
    self.plan = plan
    self.inputs = inputs
    self.outputs = outputs
    self.target = target
    let blocks = target.tuning.blocks(inputs) + target.tuning.blocks(outputs)
    slab = plan.slab(byteCount: 4 * plan.points * blocks * target.lanes, limit: target.tuning.winograd.scratchLimit)
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
      plan, outputs: outputs, channels: inputs, tile: tile, rows: inputs, parts: parts, spare: tuning.lanes)
    let bias =
      try op.epilogue.hasBias
      ? lowering.biases(groups: 1, outputs: outputs, count: tuning.blocks(outputs) * tuning.lanes) : weights
    let points = lowering.temporary(plan.points * slab * tuning.blocks(inputs) * tuning.lanes, of: .float32)
    let sums = lowering.temporary(plan.points * slab * tuning.blocks(outputs) * tuning.lanes, of: .float32)
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

  /// The products of tiles at their points, which are groups of a pointwise convolution.
  private func product(_ tiles: Int) -> ConvolutionPlan {
    ConvolutionPlan(
      SpatialWindow(positions: tiles, axes: 2), images: 1, groups: plan.points, channels: inputs, outputs: outputs,
      from: target.blocks, to: target.blocks)
  }

  private func call(
    _ step: String, _ first: Int, _ tiles: Int, blocks: Int, parts: Int = 1
  ) -> Call<KernelName> {
    let (window, activation) = (plan.window, KernelActivation(op.epilogue))
    let run = min(target.tuning.winograd.run, tiles)
    return target.call(
      KernelName(program: "winograd", defines: ["SIDE=\(plan.side)"], function: "winograd_\(step)"),
      Parameters(
        [tiles, first, run, blocks, plan.rows, plan.columns] + window.input + window.output + window.before + [
          inputs, outputs, parts, op.epilogue.hasBias ? 1 : 0, op.epilogue.addsResidual ? 1 : 0, activation.code,
        ]
      ).floats(activation.a, activation.b), items: target.pieces(tiles, of: run), blocks)
  }
}

import KelvinDevices
import KelvinGPU
import KelvinGraph

/// Register tiles of positions by output channels: a convolution on blocked tensors, or rows times constant weights.
struct TiledProduct: Sendable {
  let window: SpatialWindow
  let batch, groups: Int
  /// Of all groups.
  let inputs, outputs: Int
  /// Blocked, or dense: a position's channels side by side, in whole blocks.
  let layout: ValueLayout
  /// Those of a transposed convolution, which has one group.
  var phases: TransposedPhases?

  private var groupInputs: Int { inputs / groups }
  /// Heights, then widths of what is computed at a time: the output or, of a transposed convolution, a phase of it.
  private var plane: [Int] { phases?.positions ?? window.output }
  private var positions: Int { batch * plane[0] * plane[1] }

  /// Blocks of output channels that an invocation computes. They do not depend on positions: weights are packed by them,
  /// and all sizes of a model share packed weights.
  private func blocks(_ tiles: RegisterTiles) -> Int {
    if phases != nil { return min(tiles.blocks, (outputs + 3) / 4) }
    return groups == 1 || outputs / groups % (4 * tiles.blocks) == 0 ? tiles.blocks : 1
  }

  /// Positions that an invocation computes: whole groups of them waste what lies beyond the last, small ones read more for
  /// each product. Reading a vector of an operand costs about as much as two products of a position and a block.
  private func pixels(_ tiles: RegisterTiles, group: Int) -> Int {
    let blocks = blocks(tiles)
    func time(_ pixels: Int) -> Int {
      (positions + pixels * group - 1) / (pixels * group) * (pixels * blocks + 2 * pixels + blocks)
    }
    return tiles.pixels.min { time($0) < time($1) } ?? tiles.pixels.lowerBound
  }

  /// Weights `[outputs, inputs of a group, taps]`, of a transposed convolution `[inputs, outputs, taps]`, are the node's
  /// second input.
  func lower(_ lowering: VulkanLowering, _ epilogue: Epilogue) throws(DeviceError) {
    let (node, target, traits) = (lowering.node, lowering.target, lowering.target.traits)
    let registers = layout == .dense ? traits.rowTiles : traits.convolutionTiles
    let (pixels, blocks) = (pixels(registers, group: traits.tileGroup), blocks(registers))
    let tile = 4 * blocks
    let parts = (outputs / groups + tile - 1) / tile
    let tiles = (phases?.count ?? groups) * parts
    let groupBlocks = (groupInputs + 3) / 4
    let codes =
      try phases == nil
      ? lowering.tiledCodes(
        groups: groups, outputs: outputs / groups, channels: groupInputs, taps: window.taps, tile: tile,
        rows: groupBlocks * 4, spare: 0) : nil
    let packed =
      if let codes {
        codes.storage
      } else if let phases {
        try lowering.phasedWeights(
          phases, outputs: outputs, inputs: inputs, tile: tile, rows: groupBlocks * 4, parts: parts, spare: 0)
      } else {
        try lowering.tiledWeights(
          groups: groups, outputs: outputs / groups, channels: groupInputs, taps: window.taps, tile: tile,
          rows: groupBlocks * 4, parts: parts, spare: 0)
      }
    let x = try lowering.read(node.inputs[0], layout)
    let bias = try lowering.bias(epilogue, channels: groups * parts * tile)
    let residual = try lowering.residual(epilogue, layout).map { [$0] } ?? []
    var parameters = Parameters(
      [(inputs + 3) / 4, groupBlocks, max(parts, 1), (outputs + 3) / 4, outputs, positions] + [
        window.inputCount, plane[0] * plane[1], plane[1],
      ] + window.input + window.geometry
    ).inverses(plane[0] * plane[1], plane[1]).activation(epilogue)
    let span = traits.tileGroup * pixels
    // A row's blocks lie side by side: those of a line of the cache are read together.
    let chunk = layout == .dense && traits.usesShuffles && groupBlocks % 4 == 0 ? 4 : 1
    let (columns, z) = target.folded((positions + span - 1) / span)
    var constants = [
      traits.lanes, blocks, pixels, phases == nil && window.isPointwise ? 0 : 1, residual.isEmpty ? 0 : 1,
      epilogue.activationCode, layout == .dense ? 1 : 0, chunk,
    ]
    if let codes {
      constants += [0, codes.bits, codes.meaning]
      parameters.add(codes.rowStart, codes.rowWords, codes.rows, (codes.rowChannels + 3) / 4)
      parameters = parameters.floats(codes.zero)
    } else if phases != nil {
      constants.append(1)
      parameters.add(window.output)
    }
    let call = target.call(
      traits.product("convolution", codes),
      [.float4, codes == nil ? .float4 : .uint, .float4]
        + residual.map { _ in .float4 }, group: traits.tileGroup, constants: constants, parameters,
      groups: [columns, tiles, z])
    lowering.run(call, [x, packed, bias] + residual, lowering.write(node.outputs[0], layout))
  }
}

extension Epilogue {
  /// The activation's number in shaders.
  var activationCode: Int { Int(activation?.code ?? UnaryFunction.noneCode) }
}

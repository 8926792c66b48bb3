import KelvinDevices
import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func offers(_ op: Linear, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    let weights = context.inputs[1].shape
    let product = RowProduct(
      rows: context.outputs[0].count / max(weights[0], 1), depth: weights[1], columns: weights[0],
      inputStride: weights[1], outputStride: weights[0])
    let cooperative = (context.keepsCodes ? nil : CooperativeProduct(product, context)).map { way in
      KernelOffer(
        NodeLowering<Self> { lowering throws(DeviceError) in try way.lower(lowering, op.epilogue) },
        CooperativeProduct.way)
    }
    // Both ways are dense: the other is for devices whose matrices are found to be wrong.
    let handicap = cooperative == nil ? 0 : Double(product.rows * product.columns * product.depth)
    return (cooperative.map { [$0] } ?? []) + [
      KernelOffer(plain(op, product), handicap: handicap)
    ]
  }

  private func plain(_ op: Linear, _ product: RowProduct) -> NodeLowering<Self> {
    // Few rows leave the lanes of a register idle that are rows.
    guard product.rows >= traits.lanes, product.depth % 4 == 0, product.columns % 4 == 0, product.depth > 0 else {
      return NodeLowering { lowering throws(DeviceError) in try product.lower(lowering, op.epilogue, .dense) }
    }
    let tiles = TiledProduct(
      window: SpatialWindow(positions: product.rows, axes: 2), batch: 1, groups: 1, inputs: product.depth,
      outputs: product.columns, layout: .dense, registers: traits.rowTiles)
    return NodeLowering { lowering throws(DeviceError) in try tiles.lower(lowering, op.epilogue) }
  }
}

/// Rows times packed weights, with an epilogue.
struct RowProduct: Sendable {
  var rows, depth, columns: Int
  /// Elements from row to row.
  var inputStride, outputStride: Int

  /// - Parameter layout: of the rows read and written; weights `[columns, depth]` are the node's second input.
  func lower(_ lowering: VulkanLowering, _ epilogue: Epilogue, _ layout: ValueLayout) throws(DeviceError) {
    let (target, traits, node) = (lowering.target, lowering.target.traits, lowering.node)
    let codes = try lowering.rowCodes(columns: columns, depth: depth)
    let packed =
      if let codes { codes.storage } else { try lowering.rowWeights(columns: columns, depth: depth) }
    let x = try lowering.read(node.inputs[0], layout)
    let bias = try lowering.bias(epilogue, channels: columns)
    let residual = try lowering.residual(epilogue, layout).map { [$0] } ?? []
    let rowTile = rows > 1 ? traits.linearRows : 1
    let (y, z) = target.folded((rows + rowTile - 1) / rowTile)
    var constants = [traits.lanes, rowTile, epilogue.addsResidual ? 1 : 0, epilogue.activationCode]
    var parameters = Parameters(rows, depth, columns, inputStride, outputStride).activation(epilogue)
    if let codes {
      constants += [codes.bits, codes.meaning]
      parameters.add(codes.rowStart, codes.rowWords, codes.rowChannels)
      parameters = parameters.floats(codes.zero)
    }
    let call = target.call(
      traits.product("linear", codes),
      [.float, codes == nil ? .packed4 : .uint, .float]
        + residual.map { _ in .float }, group: traits.tileGroup, constants: constants, parameters,
      groups: [(outputStride + traits.tileGroup - 1) / traits.tileGroup, y, z])
    lowering.run(call, [x, packed, bias] + residual, lowering.write(node.outputs[0], layout))
  }
}

extension VulkanLowering {
  /// The node's weights `[columns, depth]` as `[vector of depth][column][4 of depth]`.
  fileprivate func rowWeights(columns: Int, depth: Int) throws(DeviceError) -> Storage {
    let (name, weight) = try constantWeight(1)
    return packed(weight, "\(name)/vulkan-rows", count: (depth + 3) / 4 * columns * 4) { target in
      weight.withFloats { source in
        for column in 0..<columns {
          for k in 0..<depth { target[(k / 4 * columns + column) * 4 + k % 4] = source[column * depth + k] }
        }
      }
    }
  }

  /// The node's bias in whole groups of four, zero where there is none.
  func bias(_ epilogue: Epilogue, channels: Int) throws(DeviceError) -> Storage {
    if epilogue.hasBias { return try read(node.inputs[2], .dense) }
    let scalar = type(node.inputs[0]).scalar
    return weight("zeros/vulkan-\((channels + 3) / 4 * 4)", count: channels, of: scalar) { _ in }
  }
}

extension Parameters {
  /// The same, followed by the activation's two parameters.
  func activation(_ epilogue: Epilogue) -> Parameters {
    floats(epilogue.activation?.a ?? 0, epilogue.activation?.b ?? 0)
  }
}

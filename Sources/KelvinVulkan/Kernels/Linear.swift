import KelvinDevices
import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func offers(_ op: Linear, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    let product = RowProduct(linear: context.inputs)
    let cooperative = (context.keepsQuantized ? nil : CooperativeProduct(product, context)).map { implementation in
      KernelOffer(
        NodeLowering<Self> { lowering throws(DeviceError) in try implementation.lower(lowering, op.epilogue) },
        CooperativeProduct.implementation)
    }
    // Both implementations are dense. The plain one is for devices whose cooperative matrices fail the self-test.
    let extraCost = cooperative == nil ? 0 : Double(product.rows * product.columns * product.depth)
    return (cooperative.map { [$0] } ?? []) + [plain(op, product, extraCost: extraCost)]
  }

  private func plain(_ op: Linear, _ product: RowProduct, extraCost: Double) -> GPUOffer<Self> {
    // With fewer rows than lanes, lanes of a register would be idle.
    let tiles = TiledProduct(
      window: SpatialWindow(positions: product.rows, axes: 2), batch: 1, groups: 1, inputs: product.depth,
      outputs: product.columns, layout: .dense, registers: traits.rowTiles)
    guard product.rows >= traits.lanes, product.depth % 4 == 0, product.columns % 4 == 0, product.depth > 0,
      tiles.fits(traits)
    else {
      return KernelOffer(
        NodeLowering { lowering throws(DeviceError) in try product.lower(lowering, op.epilogue, .dense) },
        extraCost: extraCost)
    }
    return tiles.alternating(KernelOffer(tiles.kernel(op.epilogue), extraCost: extraCost), traits) { registers in
      let other = tiles.cut(by: registers)
      return (other, other.kernel(op.epilogue))
    }
  }

  func fuses(_ function: UnaryFunction) -> Bool { true }

  func linear(
    _ product: RowProduct, _ activation: UnaryFunction?, addsResidual: Bool, _ codes: QuantizedOperand?
  ) -> KernelDispatch<VulkanProgram> {
    let rowTile = product.rows > 1 ? traits.linearRows : 1
    let (y, z) = folded((product.rows + rowTile - 1) / rowTile)
    let group = traits.tileGroup
    let columns = traits.lineGroup == nil ? group : product.columns(ofGroup: group, rowTile: rowTile)
    let variant = [rowTile, addsResidual ? 1 : 0, Int(activation?.code ?? UnaryFunction.noneCode)]
    let specializationConstants =
      traits.usesShuffles
      ? [traits.lanes] + variant
      : variant + [product.depth % 4 == 0 ? 1 : 0] + (codes.map { [$0.bits, $0.meaning] } ?? [])
    return call(
      traits.product("linear", codes), [.float, codes == nil ? .packed4 : .uint, .float, .float], group: group,
      specializationConstants: specializationConstants, product.parameters(columns: columns, activation, codes),
      groups: [(product.outputStride + columns - 1) / columns, y, z])
  }
}

extension Parameters {
  /// Returns these parameters, followed by the activation's two parameters.
  func activation(_ epilogue: Epilogue) -> Parameters {
    floats(epilogue.activation?.a ?? 0, epilogue.activation?.b ?? 0)
  }
}

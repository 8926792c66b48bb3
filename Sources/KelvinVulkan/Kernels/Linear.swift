import KelvinDevices
import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func offers(_ op: Linear, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    let product = RowProduct(linear: context.inputs)
    // All implementations are dense. The plain one is for devices on which the others fail their self-tests.
    var offers: [GPUOffer<Self>] = []
    let tiles = TiledProduct(
      window: SpatialWindow(positions: product.rows, axes: 2), batch: 1, groups: 1, inputs: product.depth,
      outputs: product.columns, layout: .dense, registers: traits.rowTiles)
    let products = Double(product.rows * product.columns * product.depth)
    // Vectors must not cross rows.
    let isAligned = product.depth % 4 == 0 && product.columns % 4 == 0 && product.depth > 0
    let isStaged = isAligned && product.rows >= Self.stagedRows && !context.keepsQuantized
    for staged in isStaged ? tiles.staged(context) : [] {
      let offer = KernelOffer(
        staged.kernel(op.epilogue), staged.implementation, extraCost: products * Double(offers.count))
      offers.append(
        staged.alternating(offer, traits) { cut in
          let other = staged.cut(by: cut)
          return (other, other.kernel(op.epilogue))
        })
    }
    let extraCost = products * Double(offers.count)
    // With fewer rows than lanes, lanes of a register would be idle.
    guard isAligned, product.rows >= traits.lanes, tiles.fits(traits) else {
      return offers + [
        KernelOffer(
          NodeLowering { lowering throws(DeviceError) in try product.lower(lowering, op.epilogue, .dense) },
          extraCost: extraCost)
      ]
    }
    return offers + [
      tiles.alternating(KernelOffer(tiles.kernel(op.epilogue), extraCost: extraCost), traits) { cut in
        let other = tiles.cut(by: cut)
        return (other, other.kernel(op.epilogue))
      }
    ]
  }

  /// Fewer rows leave most of a staged tile unused.
  private static let stagedRows = 16

  func fuses(_ function: UnaryFunction) -> Bool { true }

  func linear(
    _ product: RowProduct, _ activation: UnaryFunction?, addsResidual: Bool, _ codes: QuantizedOperand?
  ) -> KernelDispatch<VulkanProgram> {
    let rowTile = product.rows > 1 ? traits.linearRows : 1
    let (y, z) = folded((product.rows + rowTile - 1) / rowTile)
    var (group, columns) = (traits.tileGroup, traits.tileGroup)
    if traits.lineGroup != nil {
      columns = product.columns(ofGroup: group, rowTile: rowTile)
      group = product.invocations(columns: columns, atLeast: group, limit: traits.widestGroup)
    }
    let variant = [rowTile, addsResidual ? 1 : 0, Int(activation?.code ?? UnaryFunction.noneCode)]
    let specializationConstants =
      traits.usesShuffles
      ? [traits.lanes] + variant
      : variant + [product.readsVectors ? 1 : 0] + (codes.map { [$0.bits, $0.meaning] } ?? [])
    let row: OperandFormat = product.readsVectors && !traits.usesShuffles ? .float4 : .float
    return call(
      traits.product("linear", codes), [row, codes == nil ? .packed4 : .uint, .float, .float], group: group,
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

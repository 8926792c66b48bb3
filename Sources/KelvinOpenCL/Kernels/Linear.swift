internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func offers(_ op: Linear, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    let rows = RowProduct(linear: context.inputs)
    if sharesRows(rows) {
      return [
        KernelOffer(
          NodeLowering { lowering throws(DeviceError) in try rows.lower(lowering, op.epilogue, .dense) })
      ]
    }
    let product = ConvolutionPlan(linearRows: rows.rows, channels: rows.depth, outputs: rows.columns)
    let node = context.node
    let kernel = NodeLowering<Self> { lowering throws(DeviceError) in
      let source = try lowering.read(node.inputs[0], .dense)
      let residual = try lowering.residual(op.epilogue, .dense)
      let (y, count) = (node.outputs[0], lowering.type(node.outputs[0]).count)
      try lowering.convolve(product, op.epilogue, source, residual: residual, lowering.write(y, .dense), count: count)
    }
    return [KernelOffer(kernel)]
  }
}

extension OpenCLTarget {
  /// The number of rows that an item of `linear` computes at a time.
  private static let rowTile = 4

  /// Whether groups share the depth of a product with few rows. Other kernels have at least one item for each row.
  func sharesRows(_ product: RowProduct) -> Bool {
    lineGroup.map { product.rows < $0 && product.depth > 0 && product.columns > 0 } ?? false
  }

  func fuses(_ function: UnaryFunction) -> Bool { function.isFusedByKernels }

  func linear(
    _ product: RowProduct, _ activation: UnaryFunction?, addsResidual: Bool, _ codes: QuantizedOperand?
  ) -> KernelDispatch<KernelName> {
    let rowTile = product.rows > 1 ? Self.rowTile : 1
    let columns = product.columns(ofGroup: tuning.group, rowTile: rowTile)
    var defines = [
      "ROWS=\(rowTile)", "RESIDUAL=\(addsResidual ? 1 : 0)", "ACTIVATION=\(activation?.code ?? UnaryFunction.noneCode)",
      "WHOLE=\(product.readsVectors ? 1 : 0)",
    ]
    if let codes { defines += ["CODED", "BITS=\(codes.bits)", "MEANING=\(codes.meaning)"] }
    return call(
      KernelName(program: "linear", defines: defines, function: "linear"),
      product.parameters(columns: columns, activation, codes),
      items: pieces(product.outputStride, of: columns) * tuning.group, pieces(product.rows, of: rowTile))
  }
}

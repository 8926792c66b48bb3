internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addLayerNormalization<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(LayerNormalization.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      guard op.isCentered else { throw context.unsupported("normalization by the mean square") }
      let (shape, target) = (context.inputs[0].shape, context.target)
      let axes = op.axis..<shape.rank
      let dense = context.normalizing(op, ReductionRows(shape, axes: axes), .dense)
      // A scale for each position is a dense operand; only normalizations over other axes than channels run in blocks.
      // Lanes without a channel have variance 0 and must stay zero, which needs an epsilon that no device flushes to
      // zero.
      guard op.axis > 1, context.inputs.count == 1, context.readsElementsOfBlocks,
        op.epsilon >= .leastNormalMagnitude || context.fillsBlocks || !target.clearsLanes
      else { return [dense] }
      return [
        dense, context.normalizing(op, ReductionRows(shape, axes: axes, inBlocksOf: target.lanes), target.blocks),
      ]
    }
  }
}

extension KernelContext {
  fileprivate func normalizing(_ op: LayerNormalization, _ lines: ReductionRows, _ layout: ValueLayout) -> GPUOffer<
    Target
  > {
    let groups = RowGroups(lines, group: target.lineGroup)
    let (node, inputs) = (node, inputs.count)
    let kernel = NodeLowering<Target> { lowering throws(DeviceError) in
      var reads: [Storage] = []
      for input in node.inputs { reads.append(try lowering.read(input, layout)) }
      while reads.count < 3 { reads.append(reads[0]) }
      let call = { (pass: RowPass) in lowering.target.layerNormalization(op, groups, pass, inputs: inputs) }
      reads.append(lowering.statistics(of: groups, reads[0], call))
      lowering.run(call(.result), reads, lowering.write(node.outputs[0], layout))
    }
    return offer(kernel, layout)
  }
}

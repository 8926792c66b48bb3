internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addSoftmax<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Softmax.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let (shape, target, axes) = (context.inputs[0].shape, context.target, op.axis..<op.axis + 1)
      let dense = context.softmax(ReductionRows(shape, axes: axes), .dense)
      // The shares of a row of zeros are not zero, so lanes without a channel would not stay zero.
      guard context.readsElementsOfBlocks, op.axis == 1 || context.fillsBlocks || !target.clearsLanes else {
        return dense
      }
      return dense + context.softmax(ReductionRows(shape, axes: axes, inBlocksOf: target.lanes), target.blocks)
    }
  }
}

extension KernelContext {
  fileprivate func softmax(_ lines: ReductionRows, _ layout: ValueLayout) -> [GPUOffer<Target>] {
    let node = node
    let alone = NodeLowering<Target> { lowering throws(DeviceError) in
      let x = try lowering.read(node.inputs[0], layout)
      lowering.run(lowering.target.softmax(lines), [x], lowering.write(node.outputs[0], layout))
    }
    guard let groups = groups(sharing: lines) else { return [offer(alone, layout)] }
    let shared = NodeLowering<Target> { lowering throws(DeviceError) in
      let x = try lowering.read(node.inputs[0], layout)
      let call = { (pass: RowPass) in
        let makesParts = pass == .statistics
        return lowering.target.dispatch(
          GPUKernel(
            "softmax", reads: makesParts ? [.floats] : [.floats, .wideFloats], sharing: groups,
            makesParts: makesParts))
      }
      let statistics = lowering.statistics(of: groups, x, call)
      lowering.run(call(.result), [x, statistics], lowering.write(node.outputs[0], layout))
    }
    return [offer(shared, layout, isShared: true), offer(alone, layout, extraCost: extraCost(of: groups))]
  }
}

internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addConcat<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Concat.self) { op, context throws(DeviceError) in
      let (inputs, output, lanes) = (context.inputs, context.outputs[0], context.target.lanes)
      let dense = copies(
        inputs.map { ReductionRows($0.shape, axis: op.axis) }, ReductionRows(output.shape, axis: op.axis))
      // Whole blocks are joined, so only the last tensor may have a partial block.
      let joinsBlocks =
        op.axis == 1 && output.scalar.isFloatingPoint && inputs.dropLast().allSatisfy { $0.shape[1] % lanes == 0 }
      let blocked = copies(
        inputs.map { BlockedShape($0.shape, lanes: lanes).lines }, BlockedShape(output.shape, lanes: lanes).lines)
      let node = context.node
      func joining(_ copies: [StridedCopy], _ layout: ValueLayout) -> NodeLowering<Target> {
        NodeLowering { lowering throws(DeviceError) in
          let y = lowering.write(node.outputs[0], layout)
          for (copy, input) in zip(copies, node.inputs) {
            lowering.copy(copy, of: output.scalar, from: try lowering.read(input, layout), to: y)
          }
        }
      }
      let isRun = output.shape.dimensions[..<op.axis].allSatisfy { $0 == 1 }
      func offer(_ copies: [StridedCopy], _ layout: ValueLayout) -> NodeLowering<Target> {
        guard isRun else { return joining(copies, layout) }
        return NodeLowering(takesAnySize: layout == .dense) { lowering throws(DeviceError) in
          try lowering.join(node.inputs, as: node.outputs[0], layout)
        }
      }
      let offers = [KernelOffer(offer(dense, .dense))]
      return joinsBlocks ? offers + [context.blocked(offer(blocked, context.target.blocks))] : offers
    }
  }
}

/// Returns the copies that join tensors along the middle axis of each.
private func copies(_ parts: [ReductionRows], _ whole: ReductionRows) -> [StridedCopy] {
  var start = 0
  return parts.map { part in
    let (run, row) = (part.length * part.inner, whole.length * whole.inner)
    defer { start += run }
    return StridedCopy(sizes: [part.outer, run], source: [run, 1], target: [row, 1], targetOffset: start)
  }
}

extension BlockedShape {
  /// The blocked tensor as rows along the axis of blocks.
  fileprivate var lines: ReductionRows { ReductionRows(Shape([batch, blocks, area * lanes]), axis: 1) }
}

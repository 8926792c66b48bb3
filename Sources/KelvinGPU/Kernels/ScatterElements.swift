internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addScatterElements<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(ScatterElements.self) { op, context throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      // One invocation processes a row along the axis alone and in order.
      var lines = indices.shape
      lines[op.axis] = 1
      let iteration = StridedIteration(lines, strides: [indices.shape.strides, x.shape.strides])
      try iteration.check(context)
      let length = indices.shape[op.axis]
      return context.scattering(
        GPUKernel(
          "scatter_elements", [.number(x.scalar), .index(indices.scalar)],
          constants: [("REDUCTION", Int(op.reduction.code))], reads: [.indices, .elements],
          Parameters(length, indices.shape.strides[op.axis], x.shape[op.axis], x.shape.strides[op.axis]),
          over: iteration, cost: length))
    }
  }
}

extension KernelContext {
  /// Returns a lowering to a copy of x and, if there are updates, one kernel that reads indices and updates and changes
  /// the copy.
  func scattering(_ kernel: GPUKernel) -> NodeLowering<Target> {
    let (node, x, updates) = (node, inputs[0], inputs[2])
    return NodeLowering { lowering throws(DeviceError) in
      guard updates.count > 0, lowering.target.isHalf(x.scalar) else {
        let y = try lowering.copyForUpdate(node.inputs[0], node.outputs[0])
        guard updates.count > 0 else { return }
        lowering.run(
          kernel, [try lowering.read(node.inputs[1], .dense), try lowering.read(node.inputs[2], .dense)], y)
        return
      }
      // Updates that are added are rounded once.
      let source = try lowering.read(node.inputs[0], .dense)
      let y = lowering.write(node.outputs[0], .dense)
      let result = lowering.temporary(wide: x.count)
      lowering.convert(source, result, count: x.count)
      lowering.run(
        kernel, [try lowering.read(node.inputs[1], .dense), try lowering.read(node.inputs[2], .dense)], result)
      lowering.convert(result, y, count: x.count)
    }
  }
}

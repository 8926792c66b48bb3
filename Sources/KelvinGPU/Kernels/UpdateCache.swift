internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addUpdateCache<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(UpdateCache.self) { op, context throws(DeviceError) in
      try context.requireFloats(Array(context.inputs[..<4]))
      let node = context.node
      // Rows of one length are written by one kernel, in caches with the same number of rows.
      let isPair =
        context.target.writesOperands && op.width == op.valueWidth
        && context.inputs[0].shape == context.inputs[1].shape
      return NodeLowering { lowering throws(DeviceError) in
        let caches = [
          try lowering.copyForUpdate(node.inputs[0], node.outputs[0]),
          try lowering.copyForUpdate(node.inputs[1], node.outputs[1]),
        ]
        let rows = [try lowering.read(node.inputs[2], .dense), try lowering.read(node.inputs[3], .dense)]
        let lengths = try lowering.read(node.inputs[4], .dense)
        func kernel(_ operand: Int, _ view: [Int], _ width: Int, reads: [GPUKernel.Operand]) -> GPUKernel {
          let types = (lowering.type(node.inputs[operand]), lowering.type(node.inputs[4]).scalar)
          return GPUKernel(
            "update_cache", [.moved(types.0.scalar), .index(types.1)], reads: reads,
            Parameters([op.heads, op.rows, types.0.shape[2], op.firstRow] + view),
            rows: op.batch * op.heads * op.rows, of: width)
        }
        if isPair {
          let pair = kernel(0, op.key + op.value, op.width, reads: [.elements, .elements, .elements, .indices])
          lowering.add(
            lowering.target.dispatch(pair.variant("pair")), [caches[1]] + rows + [lengths], caches[0],
            furtherWrites: 1)
          return
        }
        for (place, view) in [op.key, op.value].enumerated() {
          let width = place == 0 ? op.width : op.valueWidth
          let one = kernel(place, view, width, reads: [.elements, .indices])
          lowering.add(lowering.target.dispatch(one), [rows[place], lengths], caches[place])
        }
      }
    }
  }
}

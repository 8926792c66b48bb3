internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addArgReduce<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(ArgReduce.self) { op, context throws(DeviceError) in
      let (scalar, node) = (context.inputs[0].scalar, context.node)
      let lines = ReductionRows(context.inputs[0].shape, axis: op.axis)
      let bits = op.scalar.byteCount * 8
      guard bits >= 32 || lines.length <= 1 << (bits - 1) else {
        throw context.unsupported("positions up to \(lines.length - 1) as \(op.scalar.rawValue)")
      }
      let order = [op.function == .minimum ? 1 : 0, op.takesLast ? 1 : 0]
      let alone = context.dense(
        GPUKernel(
          "arg_reduce", [.number(scalar), .result(op.scalar)], constants: [("SELECTED", order[0] + 2 * order[1])],
          reads: [.elements], Parameters(order[0] + 2 * order[1], lines.length),
          rows: lines.length == 0 ? 0 : lines.outer, of: lines.inner, cost: lines.length))
      guard scalar.isFloatingPoint, let groups = context.groups(sharing: lines) else { return [KernelOffer(alone)] }
      /// A whole search, or one of its two passes over rows in parts.
      ///
      /// - Parameter isFirst: whether the pass reads every element; otherwise it reads the elements at the positions
      ///   that the previous pass wrote.
      @Sendable func pass(_ groups: RowGroups, isFirst: Bool, as index: ScalarType) -> GPUKernel {
        GPUKernel(
          "arg_reduce", [.result(index)], reads: [.floats, .words],
          Parameters([lines.length, isFirst ? 1 : 0] + order), sharing: groups)
      }
      let shared = NodeLowering<Target> { lowering throws(DeviceError) in
        let x = try lowering.read(node.inputs[0], .dense)
        var (positions, last) = (x, groups)
        if groups.parts > 1 {
          positions = lowering.run(
            pass(groups, isFirst: true, as: .int32), [x, x],
            lowering.temporary(lines.count * groups.parts, of: .int32))
          last = RowGroups(groups.ofParts, group: nil)
        }
        lowering.run(
          pass(last, isFirst: groups.parts == 1, as: op.scalar), [x, positions],
          lowering.write(node.outputs[0], .dense))
      }
      return [
        KernelOffer(shared, RowGroups.implementation), KernelOffer(alone, extraCost: context.extraCost(of: groups)),
      ]
    }
  }
}

internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addCumulativeReduce<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(CumulativeReduce.self) { op, context throws(DeviceError) in
      let lines = ReductionRows(context.inputs[0].shape, axis: op.axis)
      let function = (op.function == .product ? 1 : 0) + (op.isExclusive ? 2 : 0) + (op.isReversed ? 4 : 0)
      let alone = context.dense(
        GPUKernel(
          "cumulative_reduce", [.number(context.inputs[0].scalar)], constants: [("SELECTED", function)],
          reads: [.elements], Parameters(function, lines.length),
          rows: lines.length == 0 ? 0 : lines.outer, of: lines.inner, cost: lines.length))
      // A product of a part's elements may leave the range although the product of all elements up to there does not.
      let groups = op.function == .sum ? context.groups(sharing: lines) : nil
      return context.offers(
        alone, groups.map { RunningSum(groups: $0, isExclusive: op.isExclusive, isReversed: op.isReversed) })
    }
  }
}

internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addCumulativeReduce<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(CumulativeReduce.self) { op, context throws(DeviceError) in
      let lines = ReductionRows(context.inputs[0].shape, axis: op.axis)
      let alone = context.dense(context.target.cumulativeReduce(op, lines, of: context.inputs[0].scalar))
      // A product of a part's elements may leave the range although the product of all elements up to there does not.
      let groups = op.function == .sum ? context.groups(sharing: lines) : nil
      return context.offers(
        alone, groups.map { RunningSum(groups: $0, isExclusive: op.isExclusive, isReversed: op.isReversed) })
    }
  }
}

internal import KelvinDevices
internal import KelvinGraph

/// Running sums along rows that groups share. For rows in parts, a preceding pass computes the totals.
struct RunningSum: Sendable {
  let groups: RowGroups
  /// Whether the sum at an element excludes the element.
  let isExclusive: Bool
  /// Whether sums begin with the last element.
  let isReversed: Bool

  fileprivate var kernel: GPUKernel {
    GPUKernel(
      "cumulative_reduce", reads: [.floats, .wideFloats], Parameters(isExclusive ? 1 : 0, isReversed ? 1 : 0),
      sharing: groups)
  }
}

extension KernelContext {
  /// Returns the implementations of a node that has a kernel with one invocation for each row, and may be a running sum
  /// of floats.
  func offers(_ alone: NodeLowering<Target>, _ sum: RunningSum?) -> [GPUOffer<Target>] {
    guard let sum, inputs[0].scalar.isFloatingPoint else { return [KernelOffer(alone)] }
    let (node, groups) = (node, sum.groups)
    let shared = NodeLowering<Target> { lowering throws(DeviceError) in
      let x = try lowering.read(node.inputs[0], .dense)
      let totals = lowering.temporary(wide: groups.lines.count * groups.parts)
      if groups.parts > 1 {
        let pass = GPUKernel(reducing: groups, .sum, length: groups.lines.length, isFirst: true, isLast: false)
        lowering.run(pass, [x], totals)
      }
      lowering.run(sum.kernel, [x, totals], lowering.write(node.outputs[0], .dense))
    }
    return [KernelOffer(shared, RowGroups.implementation), KernelOffer(alone, extraCost: extraCost(of: groups))]
  }
}

internal import KelvinDevices
internal import KelvinGraph

/// Running sums along rows that groups share. For rows in parts, a preceding pass computes the totals.
package struct RunningSum: Sendable {
  package let groups: RowGroups
  /// Whether the sum at an element excludes the element.
  let isExclusive: Bool
  /// Whether sums begin with the last element.
  let isReversed: Bool

  /// The parameters after those of the rows, as kernels declare them (`Shaders/shared/running_sum_lines.kernel`).
  package var parameters: [Int] { [isExclusive ? 1 : 0, isReversed ? 1 : 0] }
}

extension KernelContext {
  /// Returns the implementations of a node that has a kernel with one invocation for each row, and may be a running sum
  /// of floats.
  func offers(_ alone: NodeLowering<Target>, _ sum: RunningSum?) -> [GPUOffer<Target>] {
    guard let sum, inputs[0].scalar.isFloatingPoint else { return [KernelOffer(alone)] }
    let (node, groups) = (node, sum.groups)
    let shared = NodeLowering<Target> { lowering throws(DeviceError) in
      let target = lowering.target
      let x = try lowering.read(node.inputs[0], .dense)
      let totals = lowering.temporary(wide: groups.lines.count * groups.parts)
      if groups.parts > 1 {
        let pass = ReducePass(groups: groups, isFirst: true, isLast: false, length: groups.lines.length)
        lowering.run(target.reduce(.sum, pass), [x], totals)
      }
      lowering.run(target.runningSum(sum), [x, totals], lowering.write(node.outputs[0], .dense))
    }
    return [KernelOffer(shared, RowGroups.implementation), KernelOffer(alone, handicap: handicap(of: groups))]
  }
}

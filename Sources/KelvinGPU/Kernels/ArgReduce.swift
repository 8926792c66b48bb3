internal import KelvinDevices
package import KelvinGraph

/// A kernel that finds positions in rows that groups share: a whole search, or one of its two passes over rows in
/// parts.
package struct ArgReducePass: Sendable {
  package let groups: RowGroups
  /// Whether the pass reads every element; otherwise it reads the elements at the positions that the previous pass
  /// wrote.
  package let isFirst: Bool
  /// Elements of a row.
  package let length: Int
  /// The type of the positions written.
  package let index: ScalarType

  /// The parameters after those of the rows, as kernels declare them (`Shaders/shared/arg_reduce_lines.kernel`).
  package func parameters(_ op: ArgReduce) -> [Int] {
    [length, isFirst ? 1 : 0, op.function == .minimum ? 1 : 0, op.takesLast ? 1 : 0]
  }
}

extension KernelTable {
  mutating func addArgReduce<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(ArgReduce.self) { op, context throws(DeviceError) in
      let (scalar, node) = (context.inputs[0].scalar, context.node)
      let lines = ReductionRows(context.inputs[0].shape, axis: op.axis)
      let bits = op.scalar.byteCount * 8
      guard bits >= 32 || lines.length <= 1 << (bits - 1) else {
        throw context.unsupported("positions up to \(lines.length - 1) as \(op.scalar.rawValue)")
      }
      let alone = context.dense(context.target.argReduce(op, lines, of: scalar))
      guard scalar.isFloatingPoint, let groups = context.groups(sharing: lines) else { return [KernelOffer(alone)] }
      let shared = NodeLowering<Target> { lowering throws(DeviceError) in
        let target = lowering.target
        let x = try lowering.read(node.inputs[0], .dense)
        var (positions, last) = (x, groups)
        if groups.parts > 1 {
          let pass = ArgReducePass(groups: groups, isFirst: true, length: lines.length, index: .int32)
          positions = lowering.run(
            target.argReduce(op, pass), [x, x], lowering.temporary(lines.count * groups.parts, of: pass.index))
          last = RowGroups(groups.ofParts, group: nil)
        }
        let pass = ArgReducePass(
          groups: last, isFirst: groups.parts == 1, length: lines.length, index: op.scalar)
        lowering.run(target.argReduce(op, pass), [x, positions], lowering.write(node.outputs[0], .dense))
      }
      return [
        KernelOffer(shared, RowGroups.implementation), KernelOffer(alone, handicap: context.handicap(of: groups)),
      ]
    }
  }
}

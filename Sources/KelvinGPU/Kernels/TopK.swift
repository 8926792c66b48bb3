internal import KelvinDevices
package import KelvinGraph

/// One pass over the lines of a dense tensor that finds the positions of their best elements, best first: from elements
/// to sorted runs, or from sorted runs to longer ones. A sorted run keeps as many positions as are asked for.
package struct RankPass: Sendable {
  /// Elements of the first runs: each is compared with all of its run.
  static let firstSpan = 128
  /// Runs that become one.
  package static let arity = 8

  package let lines: ReductionRows
  package let takesLargest: Bool
  package let scalar: ScalarType
  /// Of the positions written.
  package let index: ScalarType
  /// Elements that a run stands for, of the runs read, or of those written by the first pass.
  package let span: Int
  /// Runs of a line that are read, and places for each; the first pass reads none.
  package let runs: Int
  package let stored: Int
  /// Positions written of a run, at most.
  package let kept: Int
  /// Between places written, by outer index, inner index, run and rank.
  package let strides: [Int]

  /// The passes for the first `count` positions of each line, dense.
  ///
  /// - Parameter index: of the positions that the last pass writes; the others write int32.
  static func all(_ lines: ReductionRows, count: Int, takesLargest: Bool, of scalar: ScalarType, as index: ScalarType)
    -> [RankPass]
  {
    var passes: [RankPass] = []
    var (span, read, runs, stored) = (firstSpan, firstSpan, 0, 0)
    while true {
      let written = (lines.length + span - 1) / span
      let kept = min(span, count)
      let isLast = written <= 1
      let strides =
        isLast
        ? [count * lines.inner, 1, 0, lines.inner] : [lines.inner * written * kept, written * kept, kept, 1]
      passes.append(
        RankPass(
          lines: lines, takesLargest: takesLargest, scalar: scalar, index: isLast ? index : .int32, span: read,
          runs: runs, stored: stored, kept: kept, strides: strides))
      if isLast { return passes }
      (read, runs, stored) = (span, written, kept)
      span *= arity
    }
  }

  package var isFirst: Bool { runs == 0 }
  /// Invocations: one for each element, or for each place of a run.
  package var count: Int { lines.count * (isFirst ? lines.length : runs * stored) }
  /// Places written where others follow.
  fileprivate var writtenCount: Int { lines.outer * strides[0] }
}

extension KernelTable {
  mutating func addTopK<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(TopK.self) { op, context throws(DeviceError) in
      let (x, picked) = (context.inputs[0], context.outputs[0])
      let (lines, bits) = (ReductionRows(x.shape, axis: op.axis), op.scalar.byteCount * 8)
      guard bits >= 32 || lines.length <= 1 << (bits - 1) else {
        throw context.unsupported("positions up to \(lines.length - 1) as \(op.scalar.rawValue)")
      }
      let passes = RankPass.all(
        lines, count: op.count, takesLargest: op.takesLargest, of: x.scalar, as: op.scalar)
      let iteration = StridedIteration(Shape([lines.outer, op.count, lines.inner]), strides: [[lines.length * lines.inner, 0, 1]])
      let gathering = GatherElementsPlan(
        iteration: iteration, extent: lines.length, step: lines.inner, scalar: x.scalar, index: op.scalar)
      let node = context.node
      return NodeLowering { lowering throws(DeviceError) in
        let elements = try lowering.read(node.inputs[0], .dense)
        let (values, positions) = (lowering.write(node.outputs[0], .dense), lowering.write(node.outputs[1], .dense))
        guard picked.count > 0 else { return }
        var runs: [Storage] = []
        for (number, pass) in passes.enumerated() {
          let isLast = number == passes.count - 1
          let target = isLast ? positions : lowering.temporary(pass.writtenCount, of: pass.index)
          runs = [lowering.run(lowering.target.rank(pass), [elements] + runs, target)]
        }
        lowering.run(lowering.target.gatherElements(gathering), [elements, positions], values)
      }
    }
  }
}

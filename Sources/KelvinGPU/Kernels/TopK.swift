internal import KelvinDevices
internal import KelvinGraph

/// One pass over the rows of a dense tensor that finds the positions of their best elements, best first. The first pass
/// makes sorted runs from elements; later passes merge sorted runs. A sorted run keeps at most the requested number of
/// positions.
private struct RankPass {
  /// Elements of the first runs. Each element is compared with all elements of its run.
  static let firstSpan = 128
  /// The number of runs merged into one.
  static let arity = 8

  let lines: ReductionRows
  let takesLargest: Bool
  let scalar: ScalarType
  /// The type of the positions written.
  let index: ScalarType
  /// Elements that a run stands for: of the runs read, or of the runs that the first pass writes.
  let span: Int
  /// The runs of a row that are read, and the positions stored for each; the first pass reads none.
  let runs: Int
  let stored: Int
  /// The largest number of positions written for a run.
  let kept: Int
  /// The strides of the written positions, by outer index, inner index, run and rank.
  let strides: [Int]

  /// Returns the passes that find the first `count` positions of each row, dense.
  ///
  /// - Parameter index: the type of the positions that the last pass writes; the others write int32.
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

  var kernel: GPUKernel {
    let elements = [lines.length, lines.inner, takesLargest ? 1 : 0, span]
    let written = [kept] + strides
    let types = [GPUKernel.ElementType.number(scalar), .result(index)]
    return isFirst
      ? GPUKernel("top_k_elements", types, reads: [.elements], Parameters(elements + written), of: count, cost: 8)
      : GPUKernel(
        "top_k_runs", types, reads: [.elements, .words],
        Parameters(elements + [stored, runs, Self.arity] + written), of: count, cost: 8)
  }

  private var isFirst: Bool { runs == 0 }
  /// The number of invocations: one for each element, or for each position of a run.
  private var count: Int { lines.count * (isFirst ? lines.length : runs * stored) }
  /// The number of positions written if another pass follows.
  var writtenCount: Int { lines.outer * strides[0] }
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
      let iteration = StridedIteration(
        Shape([lines.outer, op.count, lines.inner]), strides: [[lines.length * lines.inner, 0, 1]])
      let gathering = GPUKernel(
        gathering: x.scalar, iteration, extent: lines.length, step: lines.inner, by: op.scalar)
      let node = context.node
      return NodeLowering { lowering throws(DeviceError) in
        let elements = try lowering.read(node.inputs[0], .dense)
        let (values, positions) = (lowering.write(node.outputs[0], .dense), lowering.write(node.outputs[1], .dense))
        guard picked.count > 0 else { return }
        var runs: [Storage] = []
        for (number, pass) in passes.enumerated() {
          let isLast = number == passes.count - 1
          let target = isLast ? positions : lowering.temporary(pass.writtenCount, of: pass.index)
          runs = [lowering.run(pass.kernel, [elements] + runs, target)]
        }
        lowering.run(gathering, [elements, positions], values)
      }
    }
  }
}

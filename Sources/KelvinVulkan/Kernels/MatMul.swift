import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addMatMul() {
    add(MatMul.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let (x, y, z) = (context.inputs[0].shape, context.inputs[1].shape, context.outputs[0].shape)
      let (xs, ys) = (x.strides, y.strides)
      let batchRank = z.rank - 2
      guard batchRank <= 4 else { throw context.unsupported("\(batchRank) batch axes") }
      func batchStrides(_ shape: Shape, _ strides: [Int]) -> [Int] {
        let own = (0..<shape.rank - 2).map { shape[$0] == 1 ? 0 : strides[$0] }
        return [Int](repeating: 0, count: 4 - own.count) + own
      }
      let sizes = [Int](repeating: 1, count: 4 - batchRank) + z.dimensions.prefix(batchRank)
      let batches = sizes.reduce(1, *)
      let rows = z[z.rank - 2]
      let columns = z[z.rank - 1]
      guard batches <= context.traits.groupLimit else { throw context.unsupported("\(batches) matrices at once") }
      let (xRow, xDepth) = op.transposesX ? (x.rank - 1, x.rank - 2) : (x.rank - 2, x.rank - 1)
      let (yDepth, yColumn) = op.transposesY ? (y.rank - 1, y.rank - 2) : (y.rank - 2, y.rank - 1)
      let rowTile = 4
      var parameters = Parameters()
      parameters.add(rows, op.depth(context.inputs), columns, xs[xRow], xs[xDepth], ys[yDepth], ys[yColumn])
      parameters.add(sizes)
      parameters.add(batchStrides(x, xs))
      parameters.add(batchStrides(y, ys))
      let finished = parameters
      let node = context.node
      return Kernel { builder throws(DeviceError) in
        let left = try builder.read(node.inputs[0], .dense)
        let right = try builder.read(node.inputs[1], .dense)
        let group = builder.traits.flatGroup
        builder.dispatch(
          "matmul", group: group, constants: [rowTile], finished,
          groups: [(columns + group - 1) / group, (rows + rowTile - 1) / rowTile, batches],
          reads: [Operand(region: left, format: .float), Operand(region: right, format: .float)],
          write: try builder.write(node.outputs[0], .dense))
      }
    }
  }
}

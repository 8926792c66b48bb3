internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addMatMul() {
    add(MatMul.self) { op, context throws(DeviceError) in
      try context.checkFloats()
      let (x, y, z) = (context.inputs[0].shape, context.inputs[1].shape, context.outputs[0].shape)
      let batch = Shape(Array(z.dimensions.dropLast(2)))
      let plan = BroadcastPlan(
        Shape(batch.dimensions + [2]), Shape(x.dimensions.dropLast(2) + [2]), Shape(y.dimensions.dropLast(2) + [2]))
      let axes = plan.batchAxes
      guard axes.count <= 4 else { throw context.unsupported("batches over more than 4 axes") }
      let (rows, columns) = (z[z.rank - 2], z[z.rank - 1])
      let (xWidth, yWidth) = (x[x.rank - 1], y[y.rank - 1])
      let (xCount, yCount) = (xWidth * x[x.rank - 2], yWidth * y[y.rank - 2])
      let depth = op.depth(context.inputs)
      return Emitter { lowering throws(DeviceError) in
        let left = try lowering.place(lowering.node.inputs[0], .dense)
        let right = try lowering.place(lowering.node.inputs[1], .dense)
        let target = lowering.make(lowering.node.outputs[0], .dense)
        let missing = 4 - axes.count
        let constants: [Int] =
          [
            rows, columns, depth, op.transposesX ? 1 : xWidth, op.transposesX ? xWidth : 1,
            op.transposesY ? 1 : yWidth, op.transposesY ? yWidth : 1,
          ] + Array(repeating: 1, count: missing) + axes.map(\.size)
          + Array(repeating: 0, count: missing) + axes.map { $0.strides[0] * xCount }
          + Array(repeating: 0, count: missing) + axes.map { $0.strides[1] * yCount }
        lowering.run(
          KernelName(program: "matmul", function: "matmul"), [left, right, target], constants.map { .int($0) },
          global: [lowering.tuning.blocks(columns), (rows + 3) / 4, batch.count])
      }
    }
  }
}

extension BroadcastPlan {
  /// The axes of matrices that are stood for by rows of two elements, their strides in matrices.
  fileprivate var batchAxes: [Axis] {
    if axes.count == 1, axes[0].size > 2 || axes[0].strides[0] == 1 {
      return axes[0].size == 2 ? [] : [Axis(size: axes[0].size / 2, strides: [1, 1])]
    }
    return axes.dropLast().map { Axis(size: $0.size, strides: $0.strides.map { $0 / 2 }) }
  }
}

internal import KelvinDevices
internal import KelvinGraph

/// Products of two batches of dense matrices with broadcasting.
package struct MatMulPlan: Sendable {
  /// The largest number of batch axes that kernels take.
  package static let limit = 4

  package let rows: Int
  package let depth: Int
  package let columns: Int
  package let transposesX, transposesY: Bool
  /// Elements from row to row, and from column to column, of each operand.
  package let xRow, xColumn, yRow, yColumn: Int
  package let batches: Int
  /// The batch axes, outermost first, filled up to the limit; strides are in elements.
  package let sizes: [Int]
  package let xStrides: [Int]
  package let yStrides: [Int]

  fileprivate init<Target>(_ op: MatMul, _ context: KernelContext<Target>) throws(DeviceError) {
    let (x, y, z) = (context.inputs[0].shape, context.inputs[1].shape, context.outputs[0].shape)
    let batch = Shape(Array(z.dimensions.dropLast(2)))
    func strides(_ shape: Shape) -> [Int] {
      let own = (0..<shape.rank - 2).map { shape[$0] == 1 ? 0 : shape.strides[$0] }
      return [Int](repeating: 0, count: batch.rank - own.count) + own
    }
    let axes = StridedIteration(batch, strides: [strides(x), strides(y)]).axes
    guard axes.count <= Self.limit else { throw context.unsupported("batches over \(axes.count) axes") }
    let missing = Self.limit - axes.count
    sizes = [Int](repeating: 1, count: missing) + axes.map(\.size)
    xStrides = [Int](repeating: 0, count: missing) + axes.map { $0.strides[0] }
    yStrides = [Int](repeating: 0, count: missing) + axes.map { $0.strides[1] }
    batches = batch.count
    (transposesX, transposesY) = (op.transposesX, op.transposesY)
    (rows, depth, columns) = (z[z.rank - 2], op.depth(context.inputs), z[z.rank - 1])
    let (xWidth, yWidth) = (x[x.rank - 1], y[y.rank - 1])
    (xRow, xColumn) = op.transposesX ? (1, xWidth) : (xWidth, 1)
    (yRow, yColumn) = op.transposesY ? (1, yWidth) : (yWidth, 1)
  }
}

extension KernelTable {
  mutating func addMatMul<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(MatMul.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      return context.dense(context.target.matmul(try MatMulPlan(op, context)))
    }
  }
}

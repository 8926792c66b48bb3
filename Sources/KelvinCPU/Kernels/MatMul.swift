import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addMatMul() {
    add(MatMul.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      return CPUKernel.matrixProduct(
        op, context.inputs[0].shape, context.inputs[1].shape, context.outputs[0].shape, context)
    }
  }
}

extension CPUKernel {
  /// Returns the product of the first two inputs, of shapes x and y, with result shape z.
  static func matrixProduct(_ op: MatMul, _ x: Shape, _ y: Shape, _ z: Shape, _ context: CPUContext) -> CPUKernel {
    let (rows, columns, depth) = (z[z.rank - 2], z[z.rank - 1], x[x.rank - (op.transposesX ? 2 : 1)])
    let batch = Shape(Array(z.dimensions.dropLast(2)))
    let xBatch = Shape(Array(x.dimensions.dropLast(2)))
    let yBatch = Shape(Array(y.dimensions.dropLast(2)))
    let kernels = context.variant.kernels
    let products = context.variant.products
    let packedCount = ck_packed_rows_count(rows, depth, products.type)

    var packing = ck_pack_rows_args()
    packing.rows = rows
    packing.depth = depth
    packing.row_stride = op.transposesX ? 1 : depth
    packing.depth_stride = op.transposesX ? rows : 1
    packing.x_step = rows * depth
    packing.y_step = packedCount

    var arguments = ck_gemm_args()
    arguments.rows = rows
    arguments.columns = columns
    arguments.depth = depth
    arguments.batches = batch.count
    arguments.a_step = packedCount
    arguments.a_period = 1
    arguments.b_step = depth * columns
    arguments.c_step = rows * columns
    arguments.c_row_stride = columns
    arguments.kind = ck_columns_strided
    arguments.b_row_stride = op.transposesY ? 1 : columns
    arguments.b_column_stride = op.transposesY ? depth : 1
    arguments.epilogue.lower = -.infinity
    arguments.epilogue.upper = .infinity
    let sgemm = context.variant.sgemm
    if sgemm != nil {
      arguments.sgemm = sgemm
      arguments.a_step = packing.x_step
      arguments.a_row_stride = packing.row_stride
      arguments.a_depth_stride = packing.depth_stride
      arguments.transposes_a = op.transposesX
      arguments.transposes_b = op.transposesY
    }
    let schedule = ProductSchedule(
      rows: rows, columns: columns, depth: depth, batches: batch.count, threads: context.threads,
      width: kernels.gemm_width, depthLimit: sgemm == nil ? ProductSchedule.depthLimit : depth)
    schedule.apply(to: &arguments)
    var kernel = CPUKernel { [packing, arguments] operands, list in
      var (packing, arguments) = (packing, arguments)
      arguments.a = operands.floats(0)
      if sgemm == nil {
        packing.x = arguments.a
        packing.y = operands.temporary(0)
        list.add(
          products.kernels.pack_rows, packing, items: xBatch.count * parts(rows, of: Int(ck_gemm_rows)),
          cost: depth * Int(ck_gemm_rows))
        arguments.a = UnsafePointer(operands.temporary(0))
      }
      arguments.b = operands.floats(1)
      arguments.c = operands.result()
      arguments.a_index = list.array(xBatch.positions(in: batch))
      arguments.b_index = list.array(yBatch.positions(in: batch))
      list.add(
        sgemm == nil ? products.kernels.gemm : kernels.gemm_blas, arguments, items: schedule.items,
        cost: min(rows * columns * max(depth, 1) / max(schedule.items / max(batch.count, 1), 1), 1 << 20))
    }
    if sgemm == nil { kernel.temporaries = [4 * packedCount * xBatch.count] }
    kernel.threadByteCount = schedule.threadByteCount
    return kernel
  }
}

extension Shape {
  /// Returns, for each element of `shape`, to which this shape broadcasts, the position of the element that it reads.
  func positions(in shape: Shape) -> [Int] {
    let strides = strides(broadcastTo: shape)
    var positions = [0]
    for axis in 0..<shape.rank {
      positions = positions.flatMap { base in (0..<shape[axis]).map { base + $0 * strides[axis] } }
    }
    return positions
  }
}

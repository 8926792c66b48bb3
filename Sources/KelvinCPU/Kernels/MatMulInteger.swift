import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addMatMulInteger() {
    add(MatMulInteger.self) { (op, context) throws(DeviceError) in matmulInteger(op, context) }
  }
}

/// Returns a product that packs the rows of x first. A constant matrix y is already packed; another one is packed while
/// it is read.
private func matmulInteger(_ op: MatMulInteger, _ context: CPUContext) -> CPUKernel {
  let (x, y, z) = (context.inputs[0].shape, context.inputs[1].shape, context.outputs[0].shape)
  let (columns, depth) = (z[z.rank - 1], op.depth(context.inputs))
  let isPacked = context.isConstant(1) && y.rank == 2
  // With one matrix y, the batch axes of x are more rows.
  let batch = isPacked ? Shape([]) : Shape(Array(z.dimensions.dropLast(2)))
  let xBatch = isPacked ? Shape([]) : Shape(Array(x.dimensions.dropLast(2)))
  let yBatch = isPacked ? Shape([]) : Shape(Array(y.dimensions.dropLast(2)))
  let rows = isPacked ? z.dimensions.dropLast().reduce(1, *) : z[z.rank - 2]
  let requantization = CPURequantization(op.requantization, from: 4, context)
  let kernels = context.integers(rows: rows, depth: depth)
  let packedCount = kernels.packedRows(rows, depth: depth)

  var packing = ck_integer_pack_args()
  packing.is_signed = context.inputs[0].scalar == .int8
  packing.is_unsigned = true
  packing.lines = rows
  packing.depth = depth
  packing.line_stride = depth
  packing.depth_stride = 1
  packing.x_step = rows * depth
  packing.y_step = packedCount

  var arguments = ck_integer_gemm_args()
  arguments.rows = rows
  arguments.columns = columns
  arguments.depth = depth
  arguments.batches = batch.count
  arguments.a_step = packedCount
  arguments.a_period = 1
  arguments.b_step = depth * columns
  arguments.c_step = rows * columns
  arguments.kind = isPacked ? ck_columns_packed : ck_columns_strided
  arguments.b_row_stride = op.transposesY ? 1 : columns
  arguments.b_column_stride = op.transposesY ? depth : 1
  let schedule = IntegerSchedule(
    rows: rows, columns: columns, depth: depth, batches: batch.count, threads: context.threads, kernels)
  arguments.row_chunk = schedule.rowChunk
  arguments.column_chunk = schedule.columnChunk
  var kernel = CPUKernel { [packing, arguments] operands, list in
    var (packing, arguments) = (packing, arguments)
    packing.x = operands.bytes(0)
    packing.y = operands.temporaries[0].assumingMemoryBound(to: UInt32.self)
    list.add(
      kernels.pack_rows, packing, items: xBatch.count * parts(rows, of: kernels.rows), cost: depth * kernels.rows)
    arguments.a = UnsafePointer(packing.y)
    if isPacked { arguments.b_packed = operands.words(0) }
    arguments.a_operand = ck_integer_operand(operands, 0, zero: 2, context)
    arguments.b_operand = ck_integer_operand(operands, 1, zero: 3, context)
    arguments.c = operands.outputs[0]
    arguments.a_index = list.array(xBatch.positions(in: batch))
    arguments.b_index = list.array(yBatch.positions(in: batch))
    arguments.output = requantization.arguments(operands)
    list.add(kernels.gemm, arguments, items: schedule.items, cost: 1 << 20)
  }
  kernel.temporaries = [4 * packedCount * xBatch.count]
  kernel.threadByteCount = schedule.threadByteCount
  guard isPacked else { return kernel }
  kernel.packs = [.integerColumns(of: 1, columns: columns, depth: depth, areRows: op.transposesY, context, kernels)]
  return kernel
}

extension CPUPack {
  /// Returns a constant 8-bit matrix packed as the columns of a product.
  ///
  /// - Parameter areRows: whether the columns are the rows of the matrix.
  static func integerColumns(
    of input: Int, columns: Int, depth: Int, areRows: Bool, _ context: CPUContext,
    _ kernels: ck_integer_kernels
  ) -> CPUPack {
    var packing = ck_integer_pack_args()
    packing.is_signed = context.inputs[input].scalar == .int8
    packing.lines = columns
    packing.depth = depth
    packing.line_stride = areRows ? depth : 1
    packing.depth_stride = areRows ? 1 : columns
    // The panels of vectors and of tiles are the same, except for padding of the depth.
    let padding = parts(depth, of: kernels.unit) * kernels.unit - parts(depth, of: kernels.group) * kernels.group
    return CPUPack(
      inputs: [input],
      layout: "gemm-i8-\(kernels.group)-k\(kernels.width)" + (padding > 0 ? "-padded" : "")
        + (areRows ? "-transposed" : ""),
      byteCount: 4 * kernels.packedColumns(columns, depth: depth),
      content: .elements { [packing] target, weights in
        weights[0].withUnsafeBytes { source in
          var packing = packing
          packing.x = source.bindMemory(to: UInt8.self).baseAddress
          packing.y = target.bindMemory(to: UInt32.self).baseAddress
          kernels.pack_columns(&packing, 0, parts(columns, of: kernels.width), nil)
        }
      })
  }
}

import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addLinearInteger() {
    add(LinearInteger.self) { (op, context) throws(DeviceError) in
      try context.requireConstant(1, "weights")
      return linearInteger(op, context)
    }
  }
}

/// Returns a product that finds the range of x, then quantizes the rows of x while it packs them.
private func linearInteger(_ op: LinearInteger, _ context: CPUContext) -> CPUKernel {
  let (columns, depth) = (context.inputs[1].shape[0], context.inputs[1].shape[1])
  let count = context.inputs[0].count
  let rows = context.outputs[0].shape.dimensions.dropLast().reduce(1, *)
  let kernels = context.integers(rows: rows, depth: depth)
  let chunks = parts(count, of: Int(ck_map_chunk))
  let epilogue = CPUEpilogue(op.epilogue, from: LinearInteger.ownInputs, context.variant)

  var quantization = ck_quantize_rows_args()
  quantization.lines = rows
  quantization.depth = depth
  quantization.chunks = chunks

  let schedule = IntegerSchedule(
    rows: rows, columns: columns, depth: depth, batches: 1, threads: context.threads, kernels)
  var arguments = ck_integer_gemm_args()
  arguments.rows = rows
  arguments.columns = columns
  arguments.depth = depth
  arguments.batches = 1
  arguments.a_period = 1
  arguments.kind = ck_columns_packed
  arguments.row_chunk = schedule.rowChunk
  arguments.column_chunk = schedule.columnChunk
  arguments.output.type = ck_float32
  arguments.output.scale_step = context.inputs[2].count > 1 ? 1 : 0
  var kernel = CPUKernel { [quantization, arguments] operands, list in
    var (quantization, arguments) = (quantization, arguments)
    let (words, bounds, scale, zero) = (
      operands.temporaries[0].assumingMemoryBound(to: UInt32.self), operands.temporary(1), operands.temporary(2),
      operands.temporaries[3].assumingMemoryBound(to: UInt8.self)
    )
    list.add(
      kernels.range, ck_range_args(x: operands.floats(0), bounds: bounds, count: count), items: chunks,
      cost: Int(ck_map_chunk))
    quantization.x = operands.floats(0)
    quantization.y = words
    quantization.bounds = UnsafePointer(bounds)
    quantization.scale = scale
    quantization.zero = zero
    list.add(
      kernels.quantize_rows, quantization, items: parts(rows, of: kernels.rows), cost: 2 * depth * kernels.rows)
    arguments.a = UnsafePointer(words)
    arguments.b_packed = operands.words(0)
    arguments.a_operand.zero = UnsafePointer(zero)
    arguments.b_operand = ck_integer_operand(operands, 1, zero: 3, context)
    arguments.c = operands.outputs[0]
    arguments.output.scale = operands.floats(2)
    arguments.output.factor = UnsafePointer(scale)
    arguments.epilogue = epilogue.arguments(operands, biasAlongRows: false)
    list.add(kernels.gemm, arguments, items: schedule.items, cost: 1 << 20)
  }
  kernel.temporaries = [
    4 * kernels.packedRows(rows, depth: depth), 8 * max(chunks, 1), 4, 1,
  ]
  kernel.threadByteCount = max(schedule.threadByteCount, depth)
  kernel.packs = [.integerColumns(of: 1, columns: columns, depth: depth, areRows: true, context, kernels)]
  return kernel
}

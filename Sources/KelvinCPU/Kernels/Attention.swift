import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addAttention() {
    add(Attention.self) { (op, context) throws(DeviceError) in
      let lengths = op.hasLengths ? op.hasMask ? 4 : 3 : nil
      try context.requireArithmetic(besides: lengths)
      let chunk = op.rowChunk(threads: context.threads)
      var arguments = ck_attention_args()
      arguments.batch = op.batch
      arguments.heads = op.heads
      arguments.queries = op.queries
      arguments.keys = op.keys
      arguments.width = op.width
      arguments.value_width = op.valueWidth
      arguments.scale = op.scale
      arguments.row_chunk = chunk
      arguments.sharing = op.sharing
      arguments.are_wide = lengths.map { context.inputs[$0].scalar == .int64 } ?? false
      arguments.last_key = Int64(op.lastKey)
      arguments.window = op.window
      fill(&arguments.query_strides, with: Array(op.query[1...]))
      fill(&arguments.key_strides, with: Array(op.key[1...]))
      fill(&arguments.value_strides, with: Array(op.value[1...]))
      fill(&arguments.y_strides, with: op.result)
      if op.hasMask { fill(&arguments.mask_strides, with: context.inputs[3].shape.strides(broadcastTo: op.scores)) }
      let kernels = context.variant.kernels
      var kernel = CPUKernel { [arguments] operands, list in
        var arguments = arguments
        arguments.query = operands.floats(0)?.advanced(by: op.query[0])
        arguments.key = operands.floats(1)?.advanced(by: op.key[0])
        arguments.value = operands.floats(2)?.advanced(by: op.value[0])
        arguments.mask = op.hasMask ? operands.floats(3) : nil
        arguments.lengths = lengths.flatMap { operands.inputs[$0] }
        arguments.y = operands.result()
        list.add(
          kernels.attention, arguments, items: op.batch * op.heads * parts(op.queries, of: chunk), cost: 1 << 20)
      }
      kernel.threadByteCount = 4 * kernels.attention_elements(&arguments)
      try context.checkScratch(kernel.threadByteCount)
      return kernel
    }
  }
}

extension Attention {
  /// Returns the number of queries of an item: all of a head's, or fewer if there are too few heads for the threads.
  /// Each item packs the keys and values again.
  fileprivate func rowChunk(threads: Int) -> Int {
    let pieces = threads == 1 ? 1 : parts(4 * threads, of: batch * heads)
    let rows = Int(ck_gemm_rows)
    return max(parts(parts(queries, of: pieces), of: rows) * rows, Self.leastRows)
  }

  private static let leastRows = 64
}

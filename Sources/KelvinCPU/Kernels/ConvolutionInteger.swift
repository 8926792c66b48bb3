import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addConvolutionInteger() {
    addOffers(ConvolutionInteger.self) { (op, context) throws(DeviceError) in
      let window = try context.window(op.window, input: context.inputs[0].shape, output: context.outputs[0].shape)
      // The depthwise kernel reads planes.
      let isDepthwise = context.inputs[1].shape[1] == 1 && op.groups > 1 && op.window.rank <= 2
      var offer = KernelOffer(isDepthwise ? try depthwise(op, context, window) : product(op, context, window))
      let onBlocks = try op.blockedOffers(context, window, isDepthwise: isDepthwise)
      if !onBlocks.isEmpty {
        // The cost of packing the pixels.
        offer.extraCost = Double(
          isDepthwise
            ? context.outputs[0].count
            : context.outputs[0].shape[0] * context.outputs[0].shape.pixels * context.inputs[1].shape[1]
              * op.window.count)
      }
      return [offer] + onBlocks
    }
  }
}

/// Returns a convolution as a product of the weights with the windows of the image. Weights that are not constant are
/// packed first.
private func product(_ op: ConvolutionInteger, _ context: CPUContext, _ window: ck_window) -> CPUKernel {
  let (x, weights) = (context.inputs[0].shape, context.inputs[1].shape)
  let kernels = context.integers
  let rows = weights[0] / op.groups
  let depth = weights[1] * op.window.count
  let packedCount = kernels.packedRows(rows, depth: depth)
  let requantization = CPURequantization(op.requantization, from: 4, context)

  var packing = ck_integer_pack_args()
  packing.is_signed = context.inputs[1].scalar == .int8
  packing.lines = rows
  packing.depth = depth
  packing.line_stride = depth
  packing.depth_stride = 1
  packing.x_step = rows * depth
  packing.y_step = packedCount
  let panels = op.groups * parts(rows, of: kernels.rows)

  var arguments = ck_integer_gemm_args()
  arguments.rows = rows
  arguments.columns = window.outputCount
  arguments.depth = depth
  arguments.batches = x[0] * op.groups
  arguments.a_step = packedCount
  arguments.a_period = op.groups
  arguments.b_step = weights[1] * window.inputCount
  arguments.c_step = rows * arguments.columns
  arguments.kind = context.isPointwise(op.window) ? ck_columns_strided : ck_columns_of_image
  arguments.b_row_stride = arguments.columns
  arguments.b_column_stride = 1
  arguments.window = window
  arguments.is_convolution = true
  let schedule = IntegerSchedule(
    rows: rows, columns: arguments.columns, depth: depth, batches: arguments.batches, threads: context.threads, kernels)
  arguments.row_chunk = schedule.rowChunk
  arguments.column_chunk = schedule.columnChunk
  let isConstant = context.isConstant(1)
  var kernel = CPUKernel { [packing, arguments] operands, list in
    var (packing, arguments) = (packing, arguments)
    if isConstant {
      arguments.a = operands.words(0)
    } else {
      packing.x = operands.bytes(1)
      packing.y = operands.temporaries[0].assumingMemoryBound(to: UInt32.self)
      arguments.a = UnsafePointer(packing.y)
      list.add(kernels.pack_rows, packing, items: panels, cost: depth * kernels.rows)
    }
    arguments.a_operand = ck_integer_operand(operands, 1, zero: 3, context)
    arguments.b_operand = ck_integer_operand(operands, 0, zero: 2, context)
    arguments.c = operands.outputs[0]
    arguments.output = requantization.arguments(operands)
    list.add(kernels.gemm, arguments, items: schedule.items, cost: 1 << 20)
  }
  kernel.threadByteCount = schedule.threadByteCount
  guard isConstant else {
    kernel.temporaries = [4 * packedCount * op.groups]
    return kernel
  }
  kernel.packs = [
    CPUPack(
      inputs: [1],
      layout: "gemm-i8-\(kernels.group)-\(kernels.rows)" + (op.groups == 1 ? "" : "-groups-\(op.groups)"),
      byteCount: 4 * packedCount * op.groups,
      content: .elements { [packing] target, weights in
        weights[0].withUnsafeBytes { source in
          var packing = packing
          packing.x = source.bindMemory(to: UInt8.self).baseAddress
          packing.y = target.bindMemory(to: UInt32.self).baseAddress
          kernels.pack_rows(&packing, 0, panels, nil)
        }
      })
  ]
  return kernel
}

private func depthwise(
  _ op: ConvolutionInteger, _ context: CPUContext, _ window: ck_window
) throws(DeviceError) -> CPUKernel {
  let (x, y) = (context.inputs[0].shape, context.outputs[0].shape)
  let kernels = context.integers
  let requantization = CPURequantization(op.requantization, from: 4, context)
  let area = window.out_height * window.out_width
  var window = window
  var kernel = CPUKernel { [window] operands, list in
    let arguments = ck_integer_depthwise_args(
      x: ck_integer_operand(operands, 0, zero: 2, context), weights: ck_integer_operand(operands, 1, zero: 3, context),
      y: operands.outputs[0], in_channels: x[1], out_channels: y[1], window: window,
      output: requantization.arguments(operands))
    list.add(kernels.depthwise, arguments, items: area == 0 ? 0 : x[0] * y[1], cost: area * op.window.count / 4)
  }
  kernel.threadByteCount = kernels.depthwise_scratch(&window)
  try context.checkScratch(kernel.threadByteCount)
  return kernel
}

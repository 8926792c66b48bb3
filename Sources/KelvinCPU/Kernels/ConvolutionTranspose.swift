import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addConvolutionTranspose() {
    addOffers(ConvolutionTranspose.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      var dense = KernelOffer(try op.folding(context), "fold")
      guard let blocks = context.blocks, context.isConstant(1), let phases = OutputPhase.all(of: op, context) else {
        return [dense]
      }
      let products = context.products
      // This fails if the rows of a band are too wide for the scratch.
      guard let kernel = try? op.onBlocks(context, phases, products) else { return [dense] }
      let layouts = KernelLayouts(reads: [blocks, .dense], writes: [blocks])
      let offer = KernelOffer(kernel, "blocks", layouts, precision: products.precision)
      // The dense kernel stores every product and reads it again.
      let (x, weights) = (context.inputs[0].shape, context.inputs[1].shape)
      dense.extraCost = 2 * Double(x[0] * x.pixels) * Double(weights[1] * op.window.count)
      return [offer, dense]
    }
  }
}

extension ConvolutionTranspose {
  /// Returns a kernel that computes the products of every element with the filters of its group, then their sum at each
  /// output position.
  fileprivate func folding(_ context: CPUContext) throws(DeviceError) -> CPUKernel {
    let (x, y) = (context.inputs[0].shape, context.outputs[0].shape)
    var window = try context.window(self.window, input: x, output: y)
    let rows = context.inputs[1].shape[1] * self.window.count
    let depth = x[1] / groups
    let columns = window.inputCount
    let products = context.variant.products
    let packing = RowPacking(rows: rows, depth: depth, groups: groups, isTransposed: true, products)

    var arguments = ck_gemm_args()
    arguments.rows = rows
    arguments.columns = columns
    arguments.depth = depth
    arguments.batches = groups
    arguments.a_step = packing.count
    arguments.a_period = groups
    arguments.b_step = depth * columns
    arguments.c_step = rows * columns
    arguments.c_row_stride = columns
    arguments.kind = ck_columns_strided
    arguments.b_row_stride = columns
    arguments.b_column_stride = 1
    arguments.epilogue.lower = -.infinity
    arguments.epilogue.upper = .infinity
    let sgemm = context.variant.sgemm
    if sgemm != nil {
      arguments.sgemm = sgemm
      arguments.a_row_stride = 1
      arguments.a_depth_stride = rows
      arguments.transposes_a = true
      arguments.a_step = rows * depth
    }
    let kernels = context.variant.kernels
    let schedule = ProductSchedule(
      rows: rows, columns: columns, depth: depth, batches: groups, threads: context.threads,
      width: kernels.gemm_width, depthLimit: sgemm == nil ? ProductSchedule.depthLimit : depth)
    schedule.apply(to: &arguments)

    let isConstant = context.isConstant(1)
    var kernel = CPUKernel { [arguments, window] operands, list in
      var arguments = arguments
      arguments.a =
        sgemm != nil ? operands.floats(1) : isConstant ? operands.packed(0) : packing.record(operands, list)
      for image in 0..<x[0] {
        arguments.b = operands.floats(0).map { $0 + image * x[1] * columns }
        arguments.c = operands.temporaries[operands.temporaries.count - 1].assumingMemoryBound(to: Float.self)
        list.add(
          sgemm == nil ? products.kernels.gemm : kernels.gemm_blas, arguments, items: schedule.items, cost: 1 << 20)
        let area = window.outputCount
        let fold = ck_fold_args(
          x: UnsafePointer(arguments.c), y: operands.result() + image * y[1] * area, window: window)
        list.add(
          kernels.fold, fold, items: y[1],
          cost: area + columns * self.window.count)
      }
    }
    kernel.temporaries = (sgemm == nil && !isConstant ? [packing.byteCount] : []) + [4 * groups * rows * columns]
    kernel.threadByteCount = max(schedule.threadByteCount, 4 * kernels.fold_elements(&window))
    guard sgemm == nil, isConstant else { return kernel }
    kernel.packs = [packing.pack("gemm-transposed-f32-\(ck_gemm_rows)-groups-\(groups)")]
    return kernel
  }
}

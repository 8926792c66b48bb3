import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addConvolutionTranspose() {
    addOffers(ConvolutionTranspose.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      try context.requireConstant(1, "weights")
      var dense = KernelOffer(try op.folding(context), "fold")
      guard let blocks = context.blocks, let phases = OutputPhase.all(of: op, context) else { return [dense] }
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
    let columns = window.height * window.width
    let products = context.variant.products
    let packedCount = ck_packed_rows_count(rows, depth, products.type)

    var arguments = ck_gemm_args()
    arguments.rows = rows
    arguments.columns = columns
    arguments.depth = depth
    arguments.batches = groups
    arguments.a_step = packedCount
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

    var kernel = CPUKernel { [arguments, window] operands, list in
      for image in 0..<x[0] {
        var arguments = arguments
        arguments.a = sgemm == nil ? operands.packed(0) : operands.floats(1)
        arguments.b = operands.floats(0).map { $0 + image * x[1] * columns }
        arguments.c = operands.temporary(0)
        list.add(
          sgemm == nil ? products.kernels.gemm : kernels.gemm_blas, arguments, items: schedule.items, cost: 1 << 20)
        let area = window.out_height * window.out_width
        let fold = ck_fold_args(
          x: UnsafePointer(operands.temporary(0)), y: operands.result() + image * y[1] * area, window: window)
        list.add(
          kernels.fold, fold, items: y[1],
          cost: area + columns * self.window.count)
      }
    }
    kernel.temporaries = [4 * groups * rows * columns]
    kernel.threadByteCount = max(schedule.threadByteCount, 4 * kernels.fold_elements(&window))
    guard sgemm == nil else { return kernel }
    kernel.packs = [
      CPUPack(
        inputs: [1], layout: "gemm-transposed-f32-\(ck_gemm_rows)-groups-\(groups)",
        byteCount: 4 * packedCount * groups
      ) { target, weights in
        weights[0].withUnsafeBufferPointer { source in
          var packing = ck_pack_rows_args(
            x: source.baseAddress, y: target.bindMemory(to: Float.self).baseAddress, rows: rows, depth: depth,
            row_stride: 1, depth_stride: rows, x_step: rows * depth, y_step: packedCount)
          products.kernels.pack_rows?(&packing, 0, groups * parts(rows, of: Int(ck_gemm_rows)), nil)
        }
      }
    ]
    return kernel
  }
}

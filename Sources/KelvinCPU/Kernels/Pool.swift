import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addPool() {
    addOffers(Pool.self) { (op, context) throws(DeviceError) in
      if context.inputs[0].scalar.isByte { return try integerPools(op, context) }
      try context.requireArithmetic()
      let (x, y) = (context.inputs[0].shape, context.outputs[0].shape)
      let window = try context.window(op.window, input: x, output: y)
      let includesPadding = op.function == .averageIncludingPadding
      let counts = (0..<op.window.rank).map { axis in
        op.window.counts(axis, input: x[axis + 2], output: y[axis + 2], includesPadding: includesPadding)
      }
      let kernel = try pool(op, context, window, counts)
      // On blocks every tap is read; the dense kernel joins the taps of long windows.
      guard let blocks = context.blocks, op.window.rank <= 2, op.window.kernel.allSatisfy({ $0 <= longestOnBlocks })
      else { return [KernelOffer(kernel)] }
      return [
        KernelOffer(kernel, extraCost: Double(context.outputs[0].count)),
        KernelOffer(
          poolOnBlocks(op, context, window, counts), "blocks", KernelLayouts(reads: [blocks], writes: [blocks])),
      ]
    }
  }
}

private let longestOnBlocks = 8

/// Returns a pool of the windows in each plane, and, for three axes, of the results along the slices.
private func pool(
  _ op: Pool, _ context: CPUContext, _ window: ck_window, _ counts: [[Float]]
) throws(DeviceError) -> CPUKernel {
  let x = context.inputs[0].shape
  let run = context.variant.kernels.window_pool
  let passes = window.passes(planes: x[0] * x[1])
  let planar = counts.suffix(2)
  let arguments = passes.map { pass in
    ck_window_pool_args(
      x: nil, y: nil, function: op.function == .maximum ? ck_pool_maximum : ck_pool_average, window: pass.window,
      row_counts: nil, column_counts: nil)
  }
  let ones = [Float](repeating: 1, count: passes[passes.count - 1].window.out_width)
  let rowCounts = [planar.count == 2 ? planar[planar.startIndex] : [1], counts[0]]
  let columnCounts = [planar[planar.endIndex - 1], ones]
  var kernel = CPUKernel { operands, list in
    for (index, pass) in passes.enumerated() {
      var arguments = arguments[index]
      arguments.x = index == 0 ? operands.floats(0) : UnsafePointer(operands.temporary(0))
      arguments.y = index == passes.count - 1 ? operands.result() : operands.temporary(0)
      arguments.row_counts = list.array(rowCounts[index])
      arguments.column_counts = list.array(columnCounts[index])
      list.add(run, arguments, items: pass.items, cost: pass.cost)
    }
  }
  var byteCount = 0
  for pass in passes {
    var window = pass.window
    byteCount = max(byteCount, 4 * context.variant.kernels.pool_elements(&window))
  }
  try context.checkScratch(byteCount)
  kernel.threadByteCount = byteCount
  kernel.temporaries = passes.dropLast().map { 4 * $0.count }
  return kernel
}

/// A pool of the windows of planes.
private struct PoolPass {
  var window: ck_window
  var planes: Int

  var count: Int { planes * window.out_height * window.out_width }
  var items: Int { count == 0 ? 0 : planes }
  var cost: Int { window.out_height * window.out_width * (window.kernel_height + window.kernel_width) }
}

extension ck_window {
  /// Returns the pool of every slice and, unless each slice is a result, the pool of these along the slices.
  fileprivate func passes(planes: Int) -> [PoolPass] {
    var planar = self
    planar.slices = .one
    let ofSlices = PoolPass(window: planar, planes: planes * slices.size)
    guard slices.kernel > 1 || slices.out != slices.size else { return [ofSlices] }
    var across = ck_window()
    across.height = slices.size
    across.kernel_height = slices.kernel
    across.stride_y = slices.stride
    across.dilation_y = slices.dilation
    across.before_y = slices.before
    across.out_height = slices.out
    across.width = out_height * out_width
    across.out_width = across.width
    (across.kernel_width, across.stride_x, across.dilation_x) = (1, 1, 1)
    across.slices = .one
    return [ofSlices, PoolPass(window: across, planes: planes)]
  }
}

private func poolOnBlocks(
  _ op: Pool, _ context: CPUContext, _ window: ck_window, _ counts: [[Float]]
) -> CPUKernel {
  let blocks = BlockedShape(context.outputs[0].shape, lanes: context.variant.kernels.lanes)
  let bands = WindowBands(window, planes: blocks.batch * blocks.blocks, threads: context.threads)
  let run = context.variant.kernels.blocked_pool
  return CPUKernel { operands, list in
    var arguments = ck_blocked_window_args()
    arguments.x = operands.floats(0)
    arguments.y = operands.result()
    arguments.channels = blocks.channels
    arguments.window = window
    arguments.band = bands.rows
    arguments.function = op.function == .maximum ? ck_pool_maximum : ck_pool_average
    arguments.row_counts = list.array(counts.count == 2 ? counts[0] : [1])
    arguments.column_counts = list.array(counts[counts.count - 1])
    list.add(
      run, arguments, items: bands.items, cost: bands.rows * window.out_width * blocks.lanes * op.window.count / 8)
  }
}

/// Returns kernels for the maxima of 8-bit integers.
private func integerPools(_ op: Pool, _ context: CPUContext) throws(DeviceError) -> [KernelOffer<CPUKernel>] {
  let (x, y) = (context.inputs[0].shape, context.outputs[0].shape)
  let window = try context.window(op.window, input: x, output: y)
  let isSigned = context.inputs[0].scalar == .int8
  func kernel(_ run: ck_run?, _ passes: [PoolPass], lanes: Int) -> CPUKernel {
    var kernel = CPUKernel { operands, list in
      for (index, pass) in passes.enumerated() {
        let isLast = index == passes.count - 1
        let arguments = ck_integer_pool_args(
          x: index == 0
            ? operands.bytes(0) : UnsafePointer(operands.temporaries[0].assumingMemoryBound(to: UInt8.self)),
          y: (isLast ? operands.outputs[0] : operands.temporaries[0]).assumingMemoryBound(to: UInt8.self),
          is_signed: isSigned, window: pass.window)
        list.add(run, arguments, items: pass.items, cost: pass.cost * lanes / 16)
      }
    }
    kernel.temporaries = passes.dropLast().map(\.count)
    return kernel
  }
  let dense = kernel(context.integers.pool, window.passes(planes: x[0] * x[1]), lanes: 16)
  guard let blocks = context.blocks, op.window.rank <= 2 else { return [KernelOffer(dense)] }
  let blocked = BlockedShape(y, lanes: context.variant.kernels.lanes)
  let onBlocks = kernel(
    context.integers.blocked_pool, [PoolPass(window: window, planes: blocked.batch * blocked.blocks)],
    lanes: blocked.lanes)
  return [
    KernelOffer(dense, extraCost: Double(y.count)),
    KernelOffer(onBlocks, "blocks", KernelLayouts(reads: [blocks], writes: [blocks])),
  ]
}

extension Window {
  /// Returns, for each position along an axis, the number of the window's elements that a mean divides by.
  fileprivate func counts(_ axis: Int, input: Int, output: Int, includesPadding: Bool) -> [Float] {
    let valid = includesPadding ? -before[axis]..<(input + after[axis]) : 0..<input
    return (0..<output).map { position in
      let start = position * strides[axis] - before[axis]
      return Float((0..<kernel[axis]).count { valid.contains(start + $0 * dilations[axis]) })
    }
  }
}

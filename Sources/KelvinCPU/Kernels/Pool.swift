import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addPool() {
    addOffers(Pool.self) { (op, context) throws(DeviceError) in
      if context.inputs[0].scalar.isByte { return try integerPools(op, context) }
      try context.requireArithmetic()
      let (x, y) = (context.inputs[0].shape, context.outputs[0].shape)
      var window = try context.window(op.window, input: x, output: y)
      let includesPadding = op.function == .averageIncludingPadding
      let counts = (0..<op.window.rank).map { axis in
        op.window.counts(axis, input: x[axis + 2], output: y[axis + 2], includesPadding: includesPadding)
      }
      let run = context.variant.kernels.window_pool
      let planes = window.out_height * window.out_width == 0 ? 0 : x[0] * x[1]
      var kernel = CPUKernel { [window] operands, list in
        let arguments = ck_window_pool_args(
          x: operands.floats(0), y: operands.result(),
          function: op.function == .maximum ? ck_pool_maximum : ck_pool_average, window: window,
          row_counts: list.array(counts.count == 2 ? counts[0] : [1]),
          column_counts: list.array(counts[counts.count - 1]))
        list.add(
          run, arguments, items: planes,
          cost: window.out_height * window.out_width * window.kernel_height * window.kernel_width)
      }
      kernel.threadByteCount = try context.scratch(for: &window)
      guard let blocks = context.blocks else { return [KernelOffer(kernel)] }
      return [
        KernelOffer(kernel, extraCost: Double(context.outputs[0].count)),
        KernelOffer(
          poolOnBlocks(op, context, window, counts), "blocks", KernelLayouts(reads: [blocks], writes: [blocks])),
      ]
    }
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
  func kernel(_ run: ck_run?, planes: Int, lanes: Int) -> CPUKernel {
    CPUKernel { operands, list in
      let arguments = ck_integer_pool_args(
        x: operands.bytes(0), y: operands.outputs[0].assumingMemoryBound(to: UInt8.self), is_signed: isSigned,
        window: window)
      let area = window.out_height * window.out_width
      list.add(run, arguments, items: area == 0 ? 0 : planes, cost: area * op.window.count * lanes / 16)
    }
  }
  let dense = kernel(context.integers.pool, planes: x[0] * x[1], lanes: 16)
  guard let blocks = context.blocks else { return [KernelOffer(dense)] }
  let blocked = BlockedShape(y, lanes: context.variant.kernels.lanes)
  let onBlocks = kernel(
    context.integers.blocked_pool, planes: blocked.batch * blocked.blocks, lanes: blocked.lanes)
  return [
    KernelOffer(dense, extraCost: Double(y.count)),
    KernelOffer(onBlocks, "blocks", KernelLayouts(reads: [blocks], writes: [blocks])),
  ]
}

extension CPUContext {
  private static let longestReach = 1 << 24
  private static let scratchLimit = 64 << 20

  /// Returns the bytes of scratch in which a thread keeps the padded rows that one row of windows covers.
  func scratch(for window: inout ck_window) throws(DeviceError) -> Int {
    let byteCount = 4 * variant.kernels.window_elements(&window)
    try checkScratch(byteCount)
    return byteCount
  }

  func checkScratch(_ byteCount: Int) throws(DeviceError) {
    guard byteCount <= Self.scratchLimit else {
      throw unsupported("windows that cover \(byteCount) bytes of padded input, more than \(Self.scratchLimit)")
    }
  }

  /// Returns a window of one or two axes, as the kernels see it.
  func window(_ window: Window, input: Shape, output: Shape) throws(DeviceError) -> ck_window {
    guard window.rank <= 2 else { throw unsupported("windows of \(window.rank) axes") }
    for axis in 0..<window.rank where (window.kernel[axis] - 1) * window.dilations[axis] > Self.longestReach {
      throw unsupported("windows that reach over more than \(Self.longestReach) elements")
    }
    func pair(_ values: [Int], _ first: Int) -> (y: Int, x: Int) {
      values.count == 2 ? (values[0], values[1]) : (first, values[0])
    }
    let size = pair(Array(input.dimensions.dropFirst(2)), 1)
    let out = pair(Array(output.dimensions.dropFirst(2)), 1)
    let kernel = pair(window.kernel, 1)
    let stride = pair(window.strides, 1)
    let dilation = pair(window.dilations, 1)
    let before = pair(window.before, 0)
    return ck_window(
      height: size.y, width: size.x, kernel_height: kernel.y, kernel_width: kernel.x, stride_y: stride.y,
      stride_x: stride.x, dilation_y: dilation.y, dilation_x: dilation.x, before_y: before.y, before_x: before.x,
      out_height: out.y, out_width: out.x)
  }
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

import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension CPUContext {
  /// The blocks of channels that this variant's kernels compute on; nil where it has no such kernels, or the first output
  /// has no channels and positions of float32.
  var blocks: ValueLayout? {
    guard variant.hasBlocks, outputs[0].shape.rank > 2, outputs[0].scalar.innerCode == ck_float32 else { return nil }
    return .blocks(of: variant.kernels.lanes)
  }

  /// How many elements a tensor takes in blocks, fillers included.
  func blockedCount(_ shape: Shape) -> Int { BlockedShape(shape, lanes: variant.kernels.lanes).count }
}

extension CPUVariant {
  /// Narrower vectors gain nothing by blocks.
  var hasBlocks: Bool { sgemm == nil && kernels.lanes >= 8 }
}

extension Convolution {
  /// A convolution that leaves blocks of channels: of one group, or of groups that `fitBlocks`.
  ///
  /// - Parameter isPlanar: whether it reads a dense tensor.
  func onBlocks(
    _ context: CPUContext, _ window: ck_window, isPlanar: Bool
  ) throws(DeviceError) -> CPUKernel {
    let (x, weights) = (context.inputs[0].shape, context.inputs[1].shape)
    let lanes = context.variant.kernels.lanes
    let epilogue = CPUEpilogue(epilogue, from: 2, context.variant)
    var arguments = ck_blocked_convolution_args()
    arguments.in_channels = x[1]
    arguments.out_channels = weights[0]
    arguments.group_blocks = groups == 1 ? 0 : parts(weights[1], of: lanes)
    arguments.window = window
    arguments.is_planar = isPlanar
    arguments.copies = !isPointwise(context)
    let blocks = BlockedShape(context.outputs[0].shape, lanes: lanes)
    let schedule = BlockSchedule(
      window, copies: arguments.copies, channels: isPlanar ? x[1] : parts(x[1], of: lanes) * lanes,
      blocks: blocks.blocks, run: groups == 1 ? 2 : arguments.group_blocks, images: x[0], threads: context.threads)
    arguments.band = schedule.band
    arguments.block_chunk = schedule.blockChunk
    let run = context.variant.kernels.blocked_convolution
    var kernel = CPUKernel { [arguments] operands, list in
      var arguments = arguments
      arguments.x = operands.floats(0)
      arguments.weights = operands.packed(0)
      arguments.y = operands.result()
      arguments.taps = list.array(arguments.copies ? window.taps(isPlanar ? 1 : lanes) : [0])
      arguments.epilogue = epilogue.arguments(operands, biasAlongRows: true)
      list.add(run, arguments, items: schedule.items, cost: 1 << 20)
    }
    try context.checkScratch(schedule.threadByteCount)
    kernel.threadByteCount = schedule.threadByteCount
    kernel.packs = [pack(context, blocks, isPlanar: isPlanar)]
    return kernel
  }

  /// Whether the groups of this convolution are blocks of channels, or lie in one.
  func fitBlocks(_ context: CPUContext) -> Bool {
    let (width, lanes) = (context.inputs[1].shape[1], context.variant.kernels.lanes)
    return context.inputs[0].shape[1] == context.outputs[0].shape[1] && width > 0
      && (width % lanes == 0 || lanes % width == 0)
  }

  private func pack(_ context: CPUContext, _ blocks: BlockedShape, isPlanar: Bool) -> CPUPack {
    let shape = context.inputs[1].shape
    let (rows, depth, taps, lanes) = (shape[0], shape[1], window.count, blocks.lanes)
    let line = 4 * lanes * taps
    guard groups > 1 else {
      return CPUPack(
        inputs: [1], layout: "blocks-f32-\(lanes)" + (isPlanar ? "-planes" : ""),
        byteCount: line * blocks.blocks * depth
      ) { target, weights in
        ck_pack_blocked(weights[0], rows, depth, taps, lanes, isPlanar, target.bindMemory(to: Float.self).baseAddress)
      }
    }
    // What each run of blocks reads: a group, or those in one block.
    let step = max(depth, lanes)
    let rest = rows % step
    let count = rows / step * (step / lanes) * step + parts(rest, of: lanes) * rest
    return CPUPack(inputs: [1], layout: "blocks-f32-\(lanes)-groups-\(groups)", byteCount: line * count) {
      target, weights in
      ck_pack_blocked_groups(weights[0], rows, depth, taps, lanes, target.bindMemory(to: Float.self).baseAddress)
    }
  }

  /// A convolution of each channel by itself, on blocks of channels.
  func depthwiseOnBlocks(_ context: CPUContext, _ window: ck_window) -> CPUKernel {
    let channels = context.outputs[0].shape[1]
    let (lanes, taps) = (context.variant.kernels.lanes, self.window.count)
    let epilogue = CPUEpilogue(epilogue, from: 2, context.variant)
    let blocks = BlockedShape(context.outputs[0].shape, lanes: lanes)
    let bands = WindowBands(window, planes: blocks.batch * blocks.blocks, threads: context.threads)
    let run = context.variant.kernels.blocked_depthwise
    var kernel = CPUKernel { operands, list in
      var arguments = ck_blocked_window_args()
      arguments.x = operands.floats(0)
      arguments.weights = operands.packed(0)
      arguments.y = operands.result()
      arguments.channels = channels
      arguments.window = window
      arguments.band = bands.rows
      arguments.epilogue = epilogue.arguments(operands, biasAlongRows: true)
      list.add(run, arguments, items: bands.items, cost: bands.rows * window.out_width * lanes * taps / 8)
    }
    kernel.packs = [
      CPUPack(inputs: [1], layout: "lines-f32-\(lanes)", byteCount: 4 * blocks.blocks * lanes * taps) {
        target, weights in
        ck_pack_blocked_lines(weights[0], channels, taps, lanes, target.bindMemory(to: Float.self).baseAddress)
      }
    ]
    return kernel
  }
}

/// How a convolution on blocks is cut: bands whose input stays in the second-level cache, and pieces of output blocks
/// where there are too few of those for the threads.
private struct BlockSchedule {
  /// Output rows; positions where nothing is copied.
  private(set) var band: Int
  private(set) var blockChunk: Int
  let items: Int
  /// Bytes of scratch for the band that a thread copies.
  let threadByteCount: Int

  /// - Parameter run: output blocks that are packed together.
  init(_ window: ck_window, copies: Bool, channels: Int, blocks: Int, run: Int, images: Int, threads: Int) {
    var window = window
    let extent = max(1, copies ? window.out_height : window.out_height * window.out_width)
    func byteCount(_ band: Int) -> Int {
      copies ? 4 * ck_blocked_band_elements(&window, channels, band) : 4 * channels * band
    }
    let least = min(extent, copies ? Self.leastRows : Self.leastPositions)
    var band = max(1, min(extent, extent * Self.bandByteLimit / max(1, byteCount(extent))))
    var pieces = 1
    if threads > 1 {
      let wanted = parts(Self.itemsPerThread * threads, of: max(images, 1))
      band = max(min(band, parts(extent, of: wanted)), min(band, least))
      pieces = parts(wanted, of: parts(extent, of: band))
    }
    let bands = parts(extent, of: band)
    band = parts(extent, of: bands)
    self.band = copies && band > 1 ? min(extent, band + band % 2) : band
    let chunk = parts(parts(max(blocks, 1), of: pieces), of: run) * run
    blockChunk = min(chunk, max(blocks, 1))
    items =
      window.out_height * window.out_width == 0 || blocks == 0
      ? 0 : images * parts(extent, of: self.band) * parts(blocks, of: blockChunk)
    threadByteCount = copies ? byteCount(self.band) : 0
  }

  private static let bandByteLimit = 384 << 10
  private static let itemsPerThread = 4
  /// Fewer would copy the rows between two bands too often, or leave too much of a tile empty.
  private static let leastRows = 4
  private static let leastPositions = 56
}

/// Rows of output that one item computes of windows on blocks.
struct WindowBands {
  let rows: Int
  let items: Int

  init(_ window: ck_window, planes: Int, threads: Int) {
    let height = max(window.out_height, 1)
    let pieces = threads == 1 ? 1 : min(height, parts(4 * threads, of: max(planes, 1)))
    rows = parts(height, of: pieces)
    items = window.out_height * window.out_width == 0 ? 0 : planes * parts(height, of: rows)
  }
}

extension ck_window {
  /// Where each tap reads in a band of pixels of `size` floats.
  fileprivate func taps(_ size: Int) -> [Int] {
    var window = self
    return [Int](unsafeUninitializedCapacity: kernel_height * kernel_width) { target, count in
      ck_blocked_taps(&window, size, target.baseAddress)
      count = kernel_height * kernel_width
    }
  }
}

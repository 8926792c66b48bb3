import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension CPUContext {
  /// The blocks of channels of this variant's kernels. Nil if there are no such kernels, or if the first output has no
  /// positions. Elements must be float32, or 8-bit integers if there are integer kernels on blocks.
  var blocks: ValueLayout? {
    let scalar = outputs[0].scalar
    guard variant.hasBlocks, outputs[0].shape.rank > 2,
      scalar.innerCode == ck_float32 || scalar.isByte && integers.blocked_convolution != nil
    else { return nil }
    return .blocks(of: variant.kernels.lanes)
  }

  /// Returns the number of elements of a tensor in blocks, including padding.
  func blockedCount(_ shape: Shape) -> Int { BlockedShape(shape, lanes: variant.kernels.lanes).count }
}

extension CPUVariant {
  /// Whether kernels compute on blocks; narrower vectors do not gain by blocks.
  var hasBlocks: Bool { sgemm == nil && kernels.lanes >= 8 }
}

extension Convolution {
  /// Returns a convolution that writes blocks of channels: of one group, or of groups that `fitBlocks`.
  ///
  /// - Parameter isPlanar: whether it reads a dense tensor.
  func onBlocks(
    _ context: CPUContext, _ window: ck_window, _ products: CPUProducts, isPlanar: Bool = false
  ) throws(DeviceError) -> CPUKernel {
    let (x, weights) = (context.inputs[0].shape, context.inputs[1].shape)
    let lanes = context.variant.kernels.lanes
    let epilogue = CPUEpilogue(epilogue, from: 2, context.variant)
    var arguments = ck_blocked_convolution_args()
    arguments.in_channels = x[1]
    arguments.out_channels = weights[0]
    arguments.group_blocks = groups == 1 ? 0 : parts(weights[1], of: lanes)
    arguments.group_width = groups > 1 && weights[1] < lanes ? weights[1] : 0
    arguments.window = window
    arguments.is_planar = isPlanar
    arguments.copies = !context.isPointwise(self.window)
    let blocks = BlockedShape(context.outputs[0].shape, lanes: lanes)
    let schedule = BlockSchedule(
      window, copies: arguments.copies, converts: products.type != ck_operands_float32,
      pixelByteCount: 4 * (isPlanar ? products.words(x[1]) : parts(x[1], of: lanes) * products.words(lanes)),
      blocks: blocks.blocks, run: groups == 1 ? 2 : arguments.group_blocks, images: x[0], threads: context.threads,
      tiledGroups: products.type == ck_operands_tiles ? parts(x[1], of: 2 * Int(ck_tile_words)) : nil)
    arguments.band = schedule.band
    arguments.block_chunk = schedule.blockChunk
    arguments.y_pixel = lanes
    arguments.y_row = window.out_width * lanes
    arguments.y_block = blocks.area * lanes
    let run = products.kernels.blocked_convolution
    var kernel = CPUKernel { [arguments] operands, list in
      var arguments = arguments
      arguments.x = operands.floats(0)
      arguments.weights = operands.packed(0)
      arguments.y = operands.result()
      arguments.taps = list.array(arguments.copies ? window.taps(isPlanar ? 1 : products.words(lanes)) : [0])
      arguments.epilogue = epilogue.arguments(operands, biasAlongRows: true)
      list.add(run, arguments, items: schedule.items, cost: 1 << 20)
    }
    try context.checkScratch(schedule.threadByteCount)
    kernel.threadByteCount = schedule.threadByteCount
    kernel.packs = [pack(context, blocks, products, isPlanar: isPlanar)]
    return kernel
  }

  /// Whether each group of this convolution is whole blocks of channels, or is inside one block.
  func fitBlocks(_ context: CPUContext) -> Bool {
    let (width, lanes) = (context.inputs[1].shape[1], context.variant.kernels.lanes)
    return context.inputs[0].shape[1] == context.outputs[0].shape[1] && width > 0
      && (width % lanes == 0 || lanes % width == 0)
  }

  private func pack(
    _ context: CPUContext, _ blocks: BlockedShape, _ products: CPUProducts, isPlanar: Bool
  ) -> CPUPack {
    let shape = context.inputs[1].shape
    let (rows, depth, taps, lanes) = (shape[0], shape[1], window.count, blocks.lanes)
    let line = 4 * lanes * taps
    guard groups > 1 else {
      return CPUPack(
        inputs: [1], layout: "blocks-\(products.name)-\(lanes)" + (isPlanar ? "-planes" : ""),
        byteCount: line * blocks.blocks * products.words(depth)
      ) { target, weights in
        ck_pack_blocked(
          weights[0].baseAddress, rows, depth, taps, lanes, isPlanar, products.type,
          target.bindMemory(to: Float.self).baseAddress)
      }
    }
    // Each run of blocks reads a group, or the groups in one block.
    let step = max(depth, lanes)
    let rest = rows % step
    let count =
      rows / step * (step / lanes) * products.words(step) + parts(rest, of: lanes) * products.words(rest)
    return CPUPack(
      inputs: [1], layout: "blocks-\(products.name)-\(lanes)-groups-\(groups)", byteCount: line * count
    ) { target, weights in
      ck_pack_blocked_groups(
        weights[0].baseAddress, rows, depth, taps, lanes, products.type, target.bindMemory(to: Float.self).baseAddress)
    }
  }

  /// Whether groups that share a block are computed as a sum of depthwise convolutions, one for each input of a group,
  /// instead of multiplying channels of other groups by zero.
  func spreadsGroups(_ context: CPUContext, _ window: ck_window) -> Bool {
    let (width, lanes) = (context.inputs[1].shape[1], context.variant.kernels.lanes)
    guard groups > 1, width < lanes, fitBlocks(context), window.isLine else { return false }
    let taps = self.window.count
    return width * (taps + Self.spreadCost) < context.products.words(lanes) * taps
  }

  /// The cost of copying a pixel for each input of a group, in multiply-adds.
  private static let spreadCost = 6

  /// Returns a depthwise convolution, or one that `spreadsGroups`, on blocks of channels.
  ///
  /// - Parameter isRows: whether the tensors are rows of whole blocks instead.
  func depthwiseOnBlocks(
    _ context: CPUContext, _ window: ck_window, isRows: Bool = false
  ) throws(DeviceError) -> CPUKernel {
    let channels = context.outputs[0].shape[1]
    let (inputs, outputs) = (context.inputs[1].shape[1], channels / groups)
    let (lanes, taps) = (context.variant.kernels.lanes, inputs * self.window.count)
    let epilogue = CPUEpilogue(epilogue, from: 2, context.variant)
    let blocks = BlockedShape(context.outputs[0].shape, lanes: lanes)
    // Other wide kernels copy, because having all taps at every position saves more than that costs.
    let copies = isRows || outputs > 1 || window.stride_x == 1 && window.kernel_width >= 5 && !window.isLine
    let bands = WindowBands(
      window, planes: blocks.batch * blocks.blocks, threads: context.threads,
      copiedLanes: copies ? inputs * lanes : nil)
    let run = context.variant.kernels.blocked_depthwise
    var kernel = CPUKernel { operands, list in
      var arguments = ck_blocked_window_args()
      arguments.x = operands.floats(0)
      arguments.weights = operands.packed(0)
      arguments.y = operands.result()
      arguments.channels = channels
      arguments.window = window
      arguments.band = bands.rows
      arguments.copies = copies
      (arguments.group_inputs, arguments.group_outputs) = (inputs, outputs)
      arguments.is_rows = isRows
      arguments.epilogue = epilogue.arguments(operands, biasAlongRows: true)
      list.add(run, arguments, items: bands.items, cost: bands.rows * window.out_width * lanes * taps / 8)
    }
    if copies {
      var window = window
      kernel.threadByteCount = 4 * inputs * lanes * ck_blocked_padded_pixels(&window, bands.rows)
      try context.checkScratch(kernel.threadByteCount)
    }
    kernel.packs = [
      CPUPack(inputs: [1], layout: "lines-f32-\(lanes)", byteCount: 4 * blocks.blocks * lanes * taps) {
        target, weights in
        ck_pack_blocked_lines(
          weights[0].baseAddress, channels, taps, lanes, target.bindMemory(to: Float.self).baseAddress)
      }
    ]
    return kernel
  }
}

import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension ConvolutionInteger {
  /// Returns convolutions with constant weights that write blocks of channels, requantized.
  func blockedOffers(
    _ context: CPUContext, _ window: ck_window, isDepthwise: Bool
  ) throws(DeviceError) -> [KernelOffer<CPUKernel>] {
    guard let blocks = context.blocks, context.isConstant(1), requantization != nil, self.window.rank <= 2
    else { return [] }
    func offer(_ kernel: CPUKernel, _ key: String, reads layout: ValueLayout) -> KernelOffer<CPUKernel> {
      KernelOffer(kernel, key, KernelLayouts(reads: [layout], writes: [blocks]))
    }
    let channels = context.inputs[0].shape[1]
    if isDepthwise {
      guard channels == context.outputs[0].shape[1], window.kernel_height <= Int(ck_integer_lines_height) else {
        return []
      }
      return [offer(try depthwiseOnBlocks(context, window), "depthwise-blocks", reads: blocks)]
    }
    guard groups == 1 else { return [] }
    var offers = [offer(try onBlocks(context, window, isPlanar: false), "blocks", reads: blocks)]
    if (1...Self.planes).contains(channels) {
      offers.append(offer(try onBlocks(context, window, isPlanar: true), "planes", reads: .dense))
    }
    return offers
  }

  /// Channels of a dense tensor that are packed in one word.
  private static let planes = 4

  /// - Parameter isPlanar: whether it reads a dense tensor.
  private func onBlocks(
    _ context: CPUContext, _ window: ck_window, isPlanar: Bool
  ) throws(DeviceError) -> CPUKernel {
    let (x, weights) = (context.inputs[0].shape, context.inputs[1].shape)
    let blocks = BlockedShape(context.outputs[0].shape, lanes: context.variant.kernels.lanes)
    let vectors = context.integers
    let kernels = isPlanar ? vectors : context.integers(rows: window.outputCount, depth: x[1])
    let isTiled = kernels.unit > vectors.unit
    let width = isPlanar ? Self.planes : isTiled ? kernels.unit : blocks.lanes
    let requantization = CPURequantization(requantization, from: 4, context)
    let copies =
      isPlanar || !context.isPointwise(self.window) || !isTiled && context.inputs[0].scalar == .int8
    let groups = parts(x[1], of: width)
    let schedule = BlockSchedule(
      window, copies: copies, converts: isTiled, pixelByteCount: groups * width, blocks: blocks.blocks, run: 2,
      images: x[0], threads: context.threads, tiledGroups: isTiled ? groups : nil)
    try context.checkScratch(schedule.threadByteCount)
    let run = kernels.blocked_convolution
    var kernel = CPUKernel { operands, list in
      let arguments = ck_integer_blocked_args(
        x: ck_integer_operand(operands, 0, zero: 2, context),
        weights: ck_integer_operand(operands, 1, zero: 3, context),
        packed: operands.words(0), y: operands.outputs[0], in_channels: x[1], out_channels: weights[0], window: window,
        is_planar: isPlanar, copies: copies, taps: list.array(copies ? window.taps(width) : [0]), band: schedule.band,
        block_chunk: schedule.blockChunk, output: requantization.arguments(operands))
      list.add(run, arguments, items: schedule.items, cost: 1 << 20)
    }
    kernel.threadByteCount = schedule.threadByteCount
    let (taps, lanes, unit) = (self.window.count, blocks.lanes, kernels.unit / kernels.group)
    let isSigned = context.inputs[1].scalar == .int8
    kernel.packs = [
      CPUPack(
        inputs: [1], layout: "blocks-i8-\(lanes)" + (isPlanar ? "-planes" : isTiled ? "-tiles" : ""),
        byteCount: 4 * ck_integer_blocked_count(weights[0], weights[1], taps, width, unit, lanes),
        content: .elements { target, tensors in
          tensors[0].withUnsafeBytes { source in
            ck_pack_integer_blocked(
              source.bindMemory(to: UInt8.self).baseAddress, isSigned, weights[0], weights[1], taps, width, unit,
              lanes, target.bindMemory(to: UInt32.self).baseAddress)
          }
        })
    ]
    return kernel
  }

  private func depthwiseOnBlocks(_ context: CPUContext, _ window: ck_window) throws(DeviceError) -> CPUKernel {
    let blocks = BlockedShape(context.outputs[0].shape, lanes: context.variant.kernels.lanes)
    let (channels, lanes) = (blocks.channels, blocks.lanes)
    let bands = WindowBands(window, planes: blocks.batch * blocks.blocks, threads: context.threads)
    let requantization = CPURequantization(requantization, from: 4, context)
    let kernels = context.integers
    var kernel = CPUKernel { operands, list in
      let arguments = ck_integer_lines_args(
        x: ck_integer_operand(operands, 0, zero: 2, context),
        weights: ck_integer_operand(operands, 1, zero: 3, context),
        packed: operands.words(0), y: operands.outputs[0], channels: channels, window: window, band: bands.rows,
        output: requantization.arguments(operands))
      list.add(
        kernels.blocked_depthwise, arguments, items: bands.items,
        cost: bands.rows * window.out_width * lanes * self.window.count / 16)
    }
    var window = window
    kernel.threadByteCount = kernels.blocked_depthwise_scratch(&window)
    try context.checkScratch(kernel.threadByteCount)
    let (height, width) = (window.kernel_height, window.kernel_width)
    let isSigned = context.inputs[1].scalar == .int8
    kernel.packs = [
      CPUPack(
        inputs: [1], layout: "lines-i8-\(lanes)",
        byteCount: 4 * blocks.blocks * lanes * (width * parts(height, of: 4) + 1),
        content: .elements { target, tensors in
          tensors[0].withUnsafeBytes { source in
            ck_pack_integer_lines(
              source.bindMemory(to: UInt8.self).baseAddress, isSigned, channels, height, width, lanes,
              target.bindMemory(to: UInt32.self).baseAddress)
          }
        })
    ]
    return kernel
  }
}

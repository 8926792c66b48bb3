import CKelvinKernels
import KelvinDevices
import KelvinGraph

/// The outputs of a transposed convolution that are a whole number of strides apart. They are an ordinary convolution
/// of the input with every stride-th tap, in reverse order. Source: Shi et al., "Is the deconvolution layer the same as
/// a convolutional layer?", 2016.
struct OutputPhase {
  /// A phase along one axis.
  struct Line: Hashable {
    /// The first tap; the others are whole strides after it.
    let phase: Int
    /// The taps that read an input for these outputs, in the order in which the convolution reads.
    let taps: [Int]
    /// Elements of padding before the input.
    let before: Int
    let firstOutput: Int
    let outputs: Int

    /// - Returns: nil if no tap reads an input for these outputs, or if the first output begins inside the input.
    init?(phase: Int, kernel: Int, stride: Int, before: Int, outputs: Int) {
      self.phase = phase
      let first = before > phase ? (before - phase + stride - 1) / stride : 0
      taps = Swift.stride(from: phase, to: kernel, by: stride).reversed()
      self.before = taps.count - 1 - first
      firstOutput = stride * first + phase - before
      self.outputs = max(0, (outputs - firstOutput + stride - 1) / stride)
      guard !taps.isEmpty, self.before >= 0 else { return nil }
    }
  }

  let y: Line
  let x: Line
  /// The window of the convolution.
  let window: ck_window

  /// The largest number of phases; each reads the whole input again.
  private static let most = 16

  /// - Returns: nil if blocks of channels do not pay, if a phase is not a convolution, or if there are too many phases.
  static func all(of op: ConvolutionTranspose, _ context: CPUContext) -> [OutputPhase]? {
    let (input, output, lanes) = (context.inputs[0].shape, context.outputs[0].shape, context.variant.kernels.lanes)
    let window = op.window
    guard op.groups == 1, window.rank == 2, window.dilations == [1, 1], output[1] >= lanes / 2,
      window.strides[0] * window.strides[1] <= most
    else { return nil }
    func lines(_ axis: Int) -> [Line?] {
      (0..<window.strides[axis]).map { phase in
        Line(
          phase: phase, kernel: window.kernel[axis], stride: window.strides[axis], before: window.before[axis],
          outputs: output[axis + 2])
      }
    }
    var phases: [OutputPhase] = []
    for y in lines(0) {
      for x in lines(1) {
        guard let y, let x else { return nil }
        guard y.outputs > 0, x.outputs > 0 else { continue }
        let window = ck_window(
          height: input[2], width: input[3], kernel_height: y.taps.count, kernel_width: x.taps.count, stride_y: 1,
          stride_x: 1, dilation_y: 1, dilation_x: 1, before_y: y.before, before_x: x.before, out_height: y.outputs,
          out_width: x.outputs, slices: .one)
        phases.append(OutputPhase(y: y, x: x, window: window))
      }
    }
    return phases
  }

  var tapCount: Int { y.taps.count * x.taps.count }

  /// Returns the weights `[inputs][outputs][kernel]` of the transposed convolution as `[outputs][inputs][taps]` of this
  /// phase.
  func weights(_ source: UnsafeBufferPointer<Float>, inputs: Int, outputs: Int, kernel: [Int]) -> [Float] {
    var result: [Float] = []
    result.reserveCapacity(inputs * outputs * tapCount)
    for output in 0..<outputs {
      for input in 0..<inputs {
        let base = (input * outputs + output) * kernel[0] * kernel[1]
        for row in y.taps { for column in x.taps { result.append(source[base + row * kernel[1] + column]) } }
      }
    }
    return result
  }
}

extension ConvolutionTranspose {
  /// Returns a kernel that computes phase by phase, each into its positions of the result.
  func onBlocks(
    _ context: CPUContext, _ phases: [OutputPhase], _ products: CPUProducts
  ) throws(DeviceError) -> CPUKernel {
    let (input, lanes) = (context.inputs[0].shape, context.variant.kernels.lanes)
    let blocks = BlockedShape(context.outputs[0].shape, lanes: lanes)
    let (inputs, width, strides) = (input[1], context.outputs[0].shape[3], window.strides)
    let pixelByteCount = 4 * parts(inputs, of: lanes) * products.words(lanes)
    let schedules = phases.map { phase in
      BlockSchedule(
        phase.window, copies: true, pixelByteCount: pixelByteCount, blocks: blocks.blocks, run: 2, images: input[0],
        threads: context.threads)
    }
    let run = products.kernels.blocked_convolution
    var kernel = CPUKernel { operands, list in
      for (place, (phase, schedule)) in zip(phases, schedules).enumerated() {
        var arguments = ck_blocked_convolution_args()
        arguments.x = operands.floats(0)
        arguments.weights = operands.packed(place)
        arguments.y = operands.result() + (phase.y.firstOutput * width + phase.x.firstOutput) * lanes
        arguments.in_channels = inputs
        arguments.out_channels = blocks.channels
        arguments.window = phase.window
        arguments.copies = true
        arguments.taps = list.array(phase.window.taps(products.words(lanes)))
        arguments.band = schedule.band
        arguments.block_chunk = schedule.blockChunk
        arguments.y_pixel = strides[1] * lanes
        arguments.y_row = strides[0] * width * lanes
        arguments.y_block = blocks.area * lanes
        arguments.epilogue.lower = -.infinity
        arguments.epilogue.upper = .infinity
        list.add(run, arguments, items: schedule.items, cost: 1 << 20)
      }
    }
    kernel.threadByteCount = schedules.map(\.threadByteCount).max() ?? 0
    try context.checkScratch(kernel.threadByteCount)
    kernel.packs = phases.map { phase in
      CPUPack(
        inputs: [1],
        layout: "transposed-blocks-\(products.name)-\(lanes)-phase-\(phase.y.phase)x\(phase.x.phase)"
          + "-of-\(strides[0])x\(strides[1])",
        byteCount: 4 * lanes * phase.tapCount * blocks.blocks * products.words(inputs)
      ) { [window] target, weights in
        ck_pack_blocked(
          phase.weights(weights[0], inputs: inputs, outputs: blocks.channels, kernel: window.kernel), blocks.channels,
          inputs, phase.tapCount, lanes, false, products.type, target.bindMemory(to: Float.self).baseAddress)
      }
    }
    return kernel
  }
}

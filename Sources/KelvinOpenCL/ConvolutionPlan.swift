internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

/// The parameters of the convolution kernel: sizes and strides. A matrix product with constant weights is a convolution
/// with one tap whose pixels are the rows. A transposed convolution is one convolution for each phase of its stride.
struct ConvolutionPlan: Sendable {
  /// The strides of element (image, group, channel, pixel) of a tensor; see `convolution.cl`.
  struct Strides {
    var image: Int
    var group: Int
    var block: Int
    var lane: Int
    var pixel: Int

    var list: [Int] { [image, group, block, lane, pixel] }

    init(_ layout: ValueLayout, groups: Int, channels: Int, pixels: Int, lanes: Int) {
      let isDense = layout == .dense
      let stored = isDense ? channels : (channels + lanes - 1) / lanes * lanes
      (group, block, lane, pixel) = (stored * pixels, lanes * pixels, isDense ? pixels : 1, isDense ? 1 : lanes)
      image = groups * group
    }

    init(rowsOf width: Int, pixels: Int, lanes: Int) {
      (image, group, block, lane, pixel) = (pixels * width, 0, lanes, 1, width)
    }
  }

  var images = 1
  var groups = 1
  /// Input and output channels of one group.
  var channels: Int
  var outputs: Int
  var taps = 1
  var pixels: Int
  /// The parameters from output width to left padding, in the kernel's order.
  var geometry: [Int]
  /// The phases of a transposed convolution.
  private(set) var phases: TransposedPhases?
  /// The parameters from phases to the whole output's width, in the kernel's order.
  private(set) var spread: [Int]
  var isPlanar = false
  var storesWholeBlocks = false
  private var from: ValueLayout?
  private var to: ValueLayout?
  private let inputPixels: Int
  private let outputPixels: Int

  init(
    _ window: SpatialWindow, images: Int, groups: Int, channels: Int, outputs: Int, from: ValueLayout, to: ValueLayout
  ) {
    self.images = images
    self.groups = groups
    self.channels = channels
    self.outputs = outputs
    self.from = from
    self.to = to
    taps = window.taps
    pixels = window.outputCount
    geometry = [window.output[1]] + window.input + window.geometry
    isPlanar = from == .dense
    storesWholeBlocks = to != .dense
    inputPixels = window.inputCount
    outputPixels = window.outputCount
    spread = [1, 1, 0, 0] + window.output
  }

  /// Creates a convolution whose windows are stored as rows that contain the elements of all their channels.
  init(windowsOf window: SpatialWindow, images: Int, channels: Int, outputs: Int, to: ValueLayout) {
    self.init(
      SpatialWindow(positions: window.outputCount, axes: 2), images: images, groups: 1,
      channels: channels * window.taps, outputs: outputs, from: to, to: to)
    from = nil
    isPlanar = false
  }

  /// Creates a transposed convolution on blocked tensors.
  init(
    _ window: SpatialWindow, phases: TransposedPhases, images: Int, channels: Int, outputs: Int, blocks: ValueLayout
  ) {
    self.init(
      window, images: images, groups: 1, channels: channels, outputs: outputs, from: blocks, to: blocks)
    self.phases = phases
    groups = phases.count
    taps = phases.taps
    pixels = phases.positions[0] * phases.positions[1]
    // Taps of later rows and columns read earlier inputs.
    geometry =
      [phases.positions[1]] + window.input + window.kernel + [1, 1] + window.dilations.map(-)
      + (0..<2).map { -(window.before[$0] / window.strides[$0]) }
    spread = window.strides + (0..<2).map { window.before[$0] % window.strides[$0] } + window.output
  }

  init(linearRows rows: Int, channels: Int, outputs: Int) {
    self.channels = channels
    self.outputs = outputs
    pixels = rows
    (inputPixels, outputPixels) = (rows, rows)
    spread = [1, 1, 0, 0, 1, rows]
    geometry = [rows, 1, rows, 1, 1, 1, 1, 1, 1, 0, 0]
  }

  func inputStrides(lanes: Int) -> Strides {
    guard let from else { return Strides(rowsOf: channels, pixels: inputPixels, lanes: lanes) }
    return strides(from, channels: channels, pixels: inputPixels, lanes: lanes)
  }

  func outputStrides(lanes: Int) -> Strides {
    guard let to else { return Strides(rowsOf: outputs, pixels: outputPixels, lanes: lanes) }
    return strides(to, channels: outputs, pixels: outputPixels, lanes: lanes)
  }

  /// Phases read all channels.
  private func strides(_ layout: ValueLayout, channels: Int, pixels: Int, lanes: Int) -> Strides {
    var strides = Strides(
      layout, groups: phases == nil ? groups : 1, channels: channels, pixels: pixels, lanes: lanes)
    if phases != nil { strides.group = 0 }
    return strides
  }

  var inputCount: Int { images * (phases == nil ? groups : 1) * channels * inputPixels }

  func variant(_ tuning: Tuning) -> ConvolutionVariant {
    if isPlanar { return .planar(tuning) }
    if pixels == 1 { return .vector }
    return tuning.blocks(outputs) == 1 ? .narrow(tuning) : .wide(tuning)
  }

  /// Returns the number of tiles of pixels that one work item computes one after another: enough to reach
  /// `Tuning.work`, provided that enough items remain.
  func tilesPerItem(_ variant: ConvolutionVariant, _ tuning: Tuning) -> Int {
    let tiles = (pixels + variant.pixels - 1) / variant.pixels
    let others = images * groups * ((tuning.blocks(outputs) + variant.blocks - 1) / variant.blocks)
    let products = channels * taps * variant.pixels * variant.blocks * tuning.lanes
    return max(min(tuning.work / max(products, 1), tiles * others / Self.itemsEnough), 1)
  }

  /// The number of work items at which cores finish at about the same time: 32 for each of two cores.
  private static let itemsEnough = 64
}

extension OpenCLLowering {
  /// Adds a convolution whose weights are the node's second input and whose bias is the third.
  ///
  /// - Parameter count: elements of `output`, for an activation that runs in a kernel of its own.
  func convolve(
    _ plan: ConvolutionPlan, _ epilogue: Epilogue, _ source: Storage, residual: Storage?, _ output: Storage, count: Int
  ) throws(DeviceError) {
    let (tuning, lanes) = (target.tuning, target.lanes)
    let variant = plan.variant(tuning)
    let parts = target.pieces(tuning.blocks(plan.outputs), of: variant.blocks)
    let tile = variant.blocks * lanes
    // Weights may be stored as float16 beside float32 values.
    let spare = 2 * lanes
    let codes =
      try plan.phases == nil
      ? tiledQuantizedWeight(
        groups: plan.groups, outputs: plan.outputs, channels: plan.channels, taps: plan.taps, tile: tile,
        rows: plan.channels, spare: lanes) : nil
    let weights =
      if let codes {
        codes.storage
      } else if let phases = plan.phases {
        try phasedWeights(
          phases, outputs: plan.outputs, inputs: plan.channels, tile: tile, rows: plan.channels, parts: parts,
          spare: spare)
      } else {
        try tiledWeights(
          groups: plan.groups, outputs: plan.outputs, channels: plan.channels, taps: plan.taps, tile: tile,
          rows: plan.channels, parts: parts, spare: spare)
      }
    let bias = try epilogue.hasBias ? biases(groups: plan.groups, outputs: plan.outputs, count: parts * tile) : nil
    multiply(plan, epilogue, source, weights, codes, bias: bias, residual: residual, output)
    finish(KernelActivation(epilogue), output, count: count)
  }

  /// Adds the kernel alone; its weights are already packed in tiles.
  ///
  /// - Parameter codes: the layout of quantized weights.
  func multiply(
    _ plan: ConvolutionPlan, _ epilogue: Epilogue, _ source: Storage, _ weights: Storage,
    _ codes: QuantizedOperand? = nil, bias: Storage?, residual: Storage?, _ output: Storage
  ) {
    let (tuning, lanes) = (target.tuning, target.lanes)
    let variant = plan.variant(tuning)
    let parts = target.pieces(tuning.blocks(plan.outputs), of: variant.blocks)
    let activation = KernelActivation(epilogue)
    let tilesPerItem = plan.tilesPerItem(variant, tuning)
    let runs = target.pieces(plan.pixels, of: variant.pixels * tilesPerItem)
    let weightCount = plan.groups * plan.channels * plan.taps * plan.outputs
    let swaps = tuning.ordersGroups && weightCount < plan.inputCount
    let numbers =
      [plan.pixels] + plan.geometry + [plan.channels, plan.groups, plan.outputs] + plan.spread
      + plan.inputStrides(lanes: lanes).list
      + plan.outputStrides(lanes: lanes).list + [
        plan.storesWholeBlocks ? 1 : 0, bias == nil ? 0 : 1, residual == nil ? 0 : 1, swaps ? 1 : 0, tilesPerItem,
        activation.code,
      ]
    var parameters = Parameters(numbers).floats(activation.a, activation.b)
    if let codes {
      parameters.add(codes.rowStart, codes.rowWords, codes.rows, codes.rowChannels, codes.lastTable)
      parameters = parameters.floats(codes.zero)
    }
    let call = target.call(
      variant.kernel(codes), parameters, items: swaps ? parts : runs,
      swaps ? runs : parts, plan.images * plan.groups)
    run(call, [source, weights, bias ?? weights, residual ?? source], output)
  }
}

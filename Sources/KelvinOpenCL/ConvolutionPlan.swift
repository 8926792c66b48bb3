internal import KelvinDevices
internal import KelvinGraph

/// Everything the convolution kernel needs to know: sizes, and where tensors lie. Matrix products with constant weights
/// are convolutions with one tap whose pixels are the rows.
struct ConvolutionPlan {
  /// Where element (image, group, channel, pixel) of a tensor lies; see `convolution.cl`.
  struct Strides {
    var image: Int
    var group: Int
    var block: Int
    var lane: Int
    var pixel: Int

    var list: [Int] { [image, group, block, lane, pixel] }

    init(_ layout: Layout, groups: Int, channels: Int, pixels: Int, lanes: Int) {
      switch layout {
      case .dense:
        (group, block, lane, pixel) = (channels * pixels, lanes * pixels, pixels, 1)
        image = groups * group
      case .blocked:
        let blocks = (channels + lanes - 1) / lanes
        (group, block, lane, pixel) = (blocks * lanes * pixels, lanes * pixels, 1, lanes)
        image = groups * group
      }
    }

    init(rowsOf width: Int, lanes: Int) { (image, group, block, lane, pixel) = (0, 0, lanes, 1, width) }
  }

  var images = 1
  var groups = 1
  /// Input and output channels of one group.
  var channels: Int
  var outputs: Int
  var taps = 1
  var pixels: Int
  /// From output width to left padding, in the kernel's order.
  var geometry: [Int]
  var isPlanar = false
  var storesWholeBlocks = false
  private var from: Layout?
  private var to: Layout?

  init(
    _ plane: PlaneWindow, images: Int, groups: Int, channels: Int, outputs: Int, from: Layout, to: Layout, lanes: Int
  ) {
    self.images = images
    self.groups = groups
    self.channels = channels
    self.outputs = outputs
    self.from = from
    self.to = to
    taps = plane.kernel[0] * plane.kernel[1]
    pixels = plane.height * plane.width
    geometry =
      [plane.width, plane.inputHeight, plane.inputWidth] + plane.kernel + plane.strides + plane.dilations + plane.before
    isPlanar = from == .dense
    storesWholeBlocks = to == .blocked
    inputPixels = plane.inputHeight * plane.inputWidth
  }

  init(linearRows rows: Int, channels: Int, outputs: Int) {
    self.channels = channels
    self.outputs = outputs
    pixels = rows
    inputPixels = rows
    geometry = [rows, 1, rows, 1, 1, 1, 1, 1, 1, 0, 0]
  }

  private let inputPixels: Int

  func inputStrides(lanes: Int) -> Strides {
    guard let from else { return Strides(rowsOf: channels, lanes: lanes) }
    return Strides(from, groups: groups, channels: channels, pixels: inputPixels, lanes: lanes)
  }

  func outputStrides(lanes: Int) -> Strides {
    guard let to else { return Strides(rowsOf: outputs, lanes: lanes) }
    return Strides(to, groups: groups, channels: outputs, pixels: pixels, lanes: lanes)
  }

  var inputCount: Int { images * groups * channels * inputPixels }
}

extension Lowering {
  /// Adds a convolution whose weights are the node's second input and whose bias is the third.
  ///
  /// - Parameter count: elements of `target`, for an activation that takes a kernel of its own.
  mutating func convolve(
    _ plan: ConvolutionPlan, _ epilogue: Epilogue, _ source: Int, residual: Int?, _ target: Int, count: Int
  ) throws(DeviceError) {
    let lanes = tuning.lanes
    let blocks = tuning.blocks(plan.outputs)
    let tile = variant(plan, blocks: blocks)
    let parts = (blocks + tile.blocks - 1) / tile.blocks
    let weights = try weights(plan, tile: tile.blocks * lanes, parts: parts)
    let bias = try epilogue.hasBias ? bias(plan, count: parts * tile.blocks * lanes) : weights
    let fused = epilogue.activation.flatMap { $0.isFusedByKernels ? $0 : nil }
    let tiles = (plan.pixels + tile.pixels - 1) / tile.pixels
    let weightCount = plan.groups * plan.channels * plan.taps * plan.outputs
    let swaps = tuning.ordersGroups && weightCount < plan.inputCount
    let constants: [Constant] =
      ([plan.pixels] + plan.geometry + [plan.channels, plan.groups, plan.outputs]
      + plan.inputStrides(lanes: lanes).list + plan.outputStrides(lanes: lanes).list
      + [
        plan.storesWholeBlocks ? 1 : 0, epilogue.hasBias ? 1 : 0, residual == nil ? 0 : 1, swaps ? 1 : 0,
        Int(fused?.code ?? UnaryFunction.noneCode),
      ]).map { .int($0) } + [.float(fused?.a ?? 0), .float(fused?.b ?? 0)]
    run(
      tile.kernel, [source, weights, bias, residual ?? source, target], constants,
      global: swaps ? [parts, tiles, plan.images * plan.groups] : [tiles, parts, plan.images * plan.groups])
    if let activation = epilogue.activation, fused == nil { unary(activation, target, target, count: count) }
  }

  private func variant(_ plan: ConvolutionPlan, blocks: Int) -> ConvolutionVariant {
    if plan.isPlanar { return .planar(tuning) }
    if plan.pixels == 1 { return .vector }
    return blocks == 1 ? .narrow(tuning) : .wide(tuning)
  }

  /// `[group][channel tile][tap][input channel][tile]`, then a block of zeros.
  private mutating func weights(_ plan: ConvolutionPlan, tile: Int, parts: Int) throws(DeviceError) -> Int {
    let value = node.inputs[1]
    guard let weight = graph[value].weight else { throw error(.unsupported, "weights that are not constant") }
    let (channels, taps, outputs) = (plan.channels, plan.taps, plan.outputs)
    let partCount = taps * channels * tile
    let count = plan.groups * parts * partCount + tuning.lanes
    return try packed("\(graph[value].name)/tiles-\(tile)x\(plan.groups)", count: count) { target in
      let source = weight.floats()
      source.withUnsafeBufferPointer { source in
        for group in 0..<plan.groups {
          for output in 0..<outputs {
            let row = (group * outputs + output) * channels * taps
            let start = (group * parts + output / tile) * partCount + output % tile
            for channel in 0..<channels {
              for tap in 0..<taps {
                target[start + (tap * channels + channel) * tile] = source[row + channel * taps + tap]
              }
            }
          }
        }
      }
    }
  }

  /// `[group][channels rounded up to whole tiles]`.
  private mutating func bias(_ plan: ConvolutionPlan, count: Int) throws(DeviceError) -> Int {
    let value = node.inputs[2]
    guard let weight = graph[value].weight else { throw error(.unsupported, "biases that are not constant") }
    return try packed("\(graph[value].name)/vector-\(count)x\(plan.groups)", count: plan.groups * count) { target in
      let source = weight.floats()
      for group in 0..<plan.groups {
        for output in 0..<plan.outputs { target[group * count + output] = source[group * plan.outputs + output] }
      }
    }
  }
}

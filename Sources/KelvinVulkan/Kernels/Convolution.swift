import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addConvolution() {
    add(Convolution.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      guard op.window.rank <= 2 else { throw context.unsupported("\(op.window.rank) spatial axes") }
      let geometry = ConvolutionGeometry(op, context)
      // Only the general kernel takes weights as they come.
      guard context.isConstant[1] else {
        return Kernel { builder throws(DeviceError) in try geometry.buildGeneral(builder) }
      }
      // The kernel's loops over the taps are unrolled.
      if op.groups > 1, geometry.groupInputs == 1, geometry.outputs == geometry.inputs, geometry.taps <= 49 {
        return Kernel { builder throws(DeviceError) in try geometry.buildDepthwise(builder) }
      }
      let width = 4 * context.traits.convolutionBlocks
      if op.groups == 1 || (geometry.groupInputs % 4 == 0 && geometry.groupOutputs % width == 0) {
        if geometry.isVector { return Kernel { builder throws(DeviceError) in try geometry.buildVector(builder) } }
        return Kernel { builder throws(DeviceError) in try geometry.buildTiled(builder) }
      }
      return Kernel { builder throws(DeviceError) in try geometry.buildGeneral(builder) }
    }
  }
}

/// The sizes of a convolution over one or two spatial axes, and its three ways of running.
struct ConvolutionGeometry: Sendable {
  let op: Convolution
  let node: Node
  let traits: VulkanTraits
  let batch, inputs, outputs, groupInputs, groupOutputs: Int
  let height, width, outputHeight, outputWidth: Int
  let kernel, strides, dilations, before: (y: Int, x: Int)

  init(_ op: Convolution, _ context: KernelContext) {
    self.op = op
    node = context.node
    traits = context.traits
    let (x, weights, y) = (context.inputs[0].shape, context.inputs[1].shape, context.outputs[0].shape)
    func pair(_ list: [Int], _ filler: Int) -> (y: Int, x: Int) {
      list.count == 2 ? (list[0], list[1]) : (filler, list[0])
    }
    batch = x[0]
    inputs = x[1]
    outputs = weights[0]
    groupInputs = weights[1]
    groupOutputs = weights[0] / op.groups
    (height, width) = pair(Array(x.dimensions.dropFirst(2)), 1)
    (outputHeight, outputWidth) = pair(Array(y.dimensions.dropFirst(2)), 1)
    kernel = pair(op.window.kernel, 1)
    strides = pair(op.window.strides, 1)
    dilations = pair(op.window.dilations, 1)
    before = pair(op.window.before, 0)
  }

  var area: Int { height * width }
  var outputArea: Int { outputHeight * outputWidth }
  var taps: Int { kernel.y * kernel.x }
  /// Whether each output position reads just the input at that position.
  var isPointwise: Bool {
    taps == 1 && strides == (1, 1) && before == (0, 0) && area == outputArea
  }
  /// Whether it is a product with one or few rows.
  var isVector: Bool { isPointwise && area == 1 && op.groups == 1 && batch < 4 }

  private var activation: Int { Int(op.epilogue.activation?.code ?? UnaryFunction.noneCode) }
  private var weightName: ValueID { node.inputs[1] }

  private func addActivation(to parameters: inout Parameters) {
    parameters.add(op.epilogue.activation?.a ?? 0, op.epilogue.activation?.b ?? 0)
  }

  private func biasID() -> ValueID? { op.epilogue.hasBias ? node.inputs[2] : nil }

  private func residual(
    _ builder: SegmentBuilder, _ layout: Layout, _ format: TexelFormat
  ) throws(DeviceError) -> [Operand] {
    guard op.epilogue.addsResidual, let id = node.inputs.last else { return [] }
    return [Operand(region: try builder.read(id, layout), format: format)]
  }

  private func variant(_ name: String) -> String { traits.usesShuffles ? "\(name)_shuffle" : name }

  /// Register tiles of positions by output channels, on blocked tensors.
  func buildTiled(_ builder: SegmentBuilder) throws(DeviceError) {
    let tile = 4 * traits.convolutionBlocks
    let tiles = (outputs + tile - 1) / tile
    let groupBlocks = (groupInputs + 3) / 4
    let weight = builder.graph[weightName]
    let (outputs, groupInputs, taps) = (outputs, groupInputs, taps)
    let packed = try builder.weight(
      "\(weight.name)/vulkan-tiles-\(tile)", count: tiles * taps * groupBlocks * 4 * tile
    ) { target in
      guard let source = weight.weight?.dense().floats else { return }
      for output in 0..<outputs {
        for input in 0..<groupInputs {
          for tap in 0..<taps {
            let row = ((output / tile * taps + tap) * groupBlocks + input / 4) * 4 + input % 4
            target[row * tile + output % tile] = source[(output * groupInputs + input) * taps + tap]
          }
        }
      }
    }
    let x = try builder.read(node.inputs[0], .blocked)
    let bias = try builder.bias(biasID(), channels: tiles * tile)
    let residual = try residual(builder, .blocked, .float4)
    let positions = batch * outputArea
    var parameters = Parameters()
    parameters.add((inputs + 3) / 4, groupBlocks, max(tiles / op.groups, 1), (outputs + 3) / 4, outputs, positions)
    parameters.add(area, outputArea, outputWidth, height, width)
    parameters.add(kernel.y, kernel.x, strides.y, strides.x, dilations.y, dilations.x, before.y, before.x)
    parameters.addInverses(outputArea, outputWidth)
    addActivation(to: &parameters)
    let span = traits.tileGroup * traits.convolutionPixels
    let (columns, z) = builder.folded((positions + span - 1) / span)
    builder.dispatch(
      variant("convolution"), group: traits.tileGroup,
      constants: [
        traits.lanes, traits.convolutionBlocks, traits.convolutionPixels, isPointwise ? 0 : 1,
        residual.isEmpty ? 0 : 1, activation,
      ],
      parameters, groups: [columns, tiles, z],
      reads: [
        Operand(region: x, format: .float4), Operand(region: packed, format: .float4),
        Operand(region: bias, format: .float4),
      ] + residual,
      write: try builder.write(node.outputs[0], .blocked))
  }

  /// One filter a channel, on blocked tensors.
  func buildDepthwise(_ builder: SegmentBuilder) throws(DeviceError) {
    let blocks = (inputs + 3) / 4
    let weight = builder.graph[weightName]
    let (inputs, taps) = (inputs, taps)
    let packed = try builder.weight("\(weight.name)/vulkan-depthwise", count: blocks * taps * 4) { target in
      guard let source = weight.weight?.dense().floats else { return }
      for channel in 0..<inputs {
        for tap in 0..<taps {
          target[(channel / 4 * taps + tap) * 4 + channel % 4] = source[channel * taps + tap]
        }
      }
    }
    let x = try builder.read(node.inputs[0], .blocked)
    let bias = try builder.bias(biasID(), channels: inputs)
    let residual = try residual(builder, .blocked, .float4)
    let (rows, columns) = (traits.depthwiseRows, traits.depthwiseColumns)
    let tilesX = (outputWidth + columns - 1) / columns
    let tiles = (outputHeight + rows - 1) / rows * tilesX
    let planes = batch * blocks
    var parameters = Parameters()
    parameters.add(blocks, planes, height, width, outputHeight, outputWidth)
    parameters.add(dilations.y, dilations.x, before.y, before.x, tilesX, tiles, inputs)
    parameters.addInverses(tilesX)
    addActivation(to: &parameters)
    let (y, z) = builder.folded(planes)
    builder.dispatch(
      variant("depthwise"), group: traits.tileGroup,
      constants: [
        traits.lanes, kernel.y, kernel.x, strides.y, strides.x, rows, columns, residual.isEmpty ? 0 : 1, activation,
      ],
      parameters, groups: [(tiles + traits.tileGroup - 1) / traits.tileGroup, y, z],
      reads: [
        Operand(region: x, format: .float4), Operand(region: packed, format: .float4),
        Operand(region: bias, format: .float4),
      ] + residual,
      write: try builder.write(node.outputs[0], .blocked))
  }

  /// A single position: rows of channels times the weights, on blocked tensors, which then are rows.
  func buildVector(_ builder: SegmentBuilder) throws(DeviceError) {
    let rows = RowProduct(
      rows: batch, depth: inputs, columns: outputs, inputStride: (inputs + 3) / 4 * 4,
      outputStride: (outputs + 3) / 4 * 4)
    try rows.build(builder, node, op.epilogue, .blocked)
  }

  /// One output an invocation, on dense tensors.
  func buildGeneral(_ builder: SegmentBuilder) throws(DeviceError) {
    let x = try builder.read(node.inputs[0], .dense)
    let weights = try builder.read(weightName, .dense)
    let bias = try builder.bias(biasID(), channels: outputs)
    let residual = try residual(builder, .dense, .float)
    let count = batch * outputs * outputArea
    var parameters = Parameters()
    parameters.add(count, outputArea, outputWidth, outputs, groupOutputs, groupInputs, inputs, height, width)
    parameters.add(kernel.y, kernel.x, strides.y, strides.x, dilations.y, dilations.x, before.y, before.x)
    parameters.addInverses(outputArea, outputWidth, outputs)
    addActivation(to: &parameters)
    builder.dispatchFlat(
      "convolution_general", constants: [residual.isEmpty ? 0 : 1, activation], parameters, count: count,
      reads: [
        Operand(region: x, format: .float), Operand(region: weights, format: .float),
        Operand(region: bias, format: .float),
      ] + residual,
      write: try builder.write(node.outputs[0], .dense))
  }
}

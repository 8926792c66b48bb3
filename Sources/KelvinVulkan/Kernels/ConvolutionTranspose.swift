import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addConvolutionTranspose() {
    add(ConvolutionTranspose.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      guard op.window.rank <= 2 else { throw context.unsupported("\(op.window.rank) spatial axes") }
      let geometry = TransposedGeometry(op, context)
      let isBlocked = context.isConstant[1] && (op.groups == 1 || geometry.isDepthwise)
      return Kernel { builder throws(DeviceError) in
        try isBlocked ? geometry.buildBlocked(builder) : geometry.buildGeneral(builder)
      }
    }
  }
}

/// The sizes of a transposed convolution over one or two spatial axes, and its two ways of running.
private struct TransposedGeometry: Sendable {
  let node: Node
  let batch, inputs, outputs, groups, taps: Int
  /// Height and width of input and output, then what the shaders take of the window.
  let input, output, window: [Int]
  let strides: [Int]

  init(_ op: ConvolutionTranspose, _ context: KernelContext) {
    node = context.node
    let (x, y) = (context.inputs[0].shape, context.outputs[0].shape)
    func pair(_ list: [Int], _ filler: Int) -> [Int] { list.count == 2 ? list : [filler] + list }
    batch = x[0]
    inputs = x[1]
    outputs = y[1]
    groups = op.groups
    input = pair(Array(x.dimensions.dropFirst(2)), 1)
    output = pair(Array(y.dimensions.dropFirst(2)), 1)
    strides = pair(op.window.strides, 1)
    let kernel = pair(op.window.kernel, 1)
    taps = kernel[0] * kernel[1]
    window = kernel + strides + pair(op.window.dilations, 1) + pair(op.window.before, 0)
  }

  var isDepthwise: Bool { groups > 1 && groups == inputs && outputs == inputs }
  private var outputArea: Int { output[0] * output[1] }

  /// Four output channels an invocation, on blocked tensors.
  func buildBlocked(_ builder: SegmentBuilder) throws(DeviceError) {
    let weight = builder.graph[node.inputs[1]]
    let (inputBlocks, blocks) = ((inputs + 3) / 4, (outputs + 3) / 4)
    let depth = isDepthwise ? 1 : inputBlocks * 4
    let packed = try builder.weight(
      "\(weight.name)/vulkan-transposed\(isDepthwise ? "-depthwise" : "")", count: blocks * taps * depth * 4
    ) { target in
      guard let source = weight.weight?.dense().floats else { return }
      for index in source.indices {
        let (plane, tap) = index.quotientAndRemainder(dividingBy: taps)
        let (first, second) = plane.quotientAndRemainder(dividingBy: outputs / groups)
        let (from, to) = isDepthwise ? (0, first) : (first, second)
        target[(((to / 4) * taps + tap) * depth + from) * 4 + to % 4] = source[index]
      }
    }
    let count = batch * blocks * outputArea
    var parameters = Parameters()
    parameters.add(count, outputArea, output[1], outputs, blocks, inputBlocks)
    parameters.add(input + window)
    parameters.addInverses(outputArea, output[1], blocks, strides[0], strides[1])
    let x = try builder.read(node.inputs[0], .blocked)
    builder.dispatchFlat(
      "convolution_transpose", constants: [isDepthwise ? 1 : 0], parameters, count: count,
      reads: [Operand(region: x, format: .float4), Operand(region: packed, format: .float4)],
      write: try builder.write(node.outputs[0], .blocked))
  }

  /// One output an invocation, on dense tensors.
  func buildGeneral(_ builder: SegmentBuilder) throws(DeviceError) {
    let count = batch * outputs * outputArea
    var parameters = Parameters()
    parameters.add(count, outputArea, output[1], outputs, outputs / groups, inputs / groups, inputs)
    parameters.add(input + window)
    parameters.addInverses(outputArea, output[1], outputs)
    let x = try builder.read(node.inputs[0], .dense)
    let weights = try builder.read(node.inputs[1], .dense)
    builder.dispatchFlat(
      "convolution_transpose_general", parameters, count: count,
      reads: [Operand(region: x, format: .float), Operand(region: weights, format: .float)],
      write: try builder.write(node.outputs[0], .dense))
  }
}

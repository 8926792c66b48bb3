import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addPool() {
    add(Pool.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      guard op.window.rank <= 2 else { throw context.unsupported("\(op.window.rank) spatial axes") }
      let pool = BlockedPool(op, context.inputs[0].shape, context.outputs[0].shape)
      let node = context.node
      return Kernel { builder throws(DeviceError) in try pool.build(builder, node) }
    }
  }
}

/// Windows over one or two spatial axes of a blocked tensor.
struct BlockedPool: Sendable {
  /// 0 maximum, 1 average, 2 average counting the padding.
  var function: Int
  var count: Int
  var input, output, kernel, strides, dilations, before, after: [Int]

  init(_ op: Pool, _ x: Shape, _ y: Shape) {
    function =
      switch op.function {
      case .maximum: 0
      case .average: 1
      case .averageIncludingPadding: 2
      }
    func pair(_ list: [Int], _ filler: Int) -> [Int] { list.count == 2 ? list : [filler] + list }
    count = BlockedShape(y).count
    input = pair(Array(x.dimensions.dropFirst(2)), 1)
    output = pair(Array(y.dimensions.dropFirst(2)), 1)
    kernel = pair(op.window.kernel, 1)
    strides = pair(op.window.strides, 1)
    dilations = pair(op.window.dilations, 1)
    before = pair(op.window.before, 0)
    after = pair(op.window.after, 0)
  }

  /// The mean over all of `area`.
  init(meanOf shape: BlockedShape) {
    function = 1
    count = shape.batch * shape.blocks
    input = [1, shape.area]
    output = [1, 1]
    kernel = [1, shape.area]
    (strides, dilations) = ([1, 1], [1, 1])
    (before, after) = ([0, 0], [0, 0])
  }

  func build(_ builder: SegmentBuilder, _ node: Node) throws(DeviceError) {
    var parameters = Parameters()
    parameters.add(count, output[0] * output[1], output[1])
    parameters.add(input + kernel + strides + dilations + before + after)
    parameters.addInverses(output[0] * output[1], output[1])
    let x = try builder.read(node.inputs[0], .blocked)
    builder.dispatchFlat(
      "pool", constants: [function], parameters, count: count, reads: [Operand(region: x, format: .float4)],
      write: try builder.write(node.outputs[0], .blocked))
  }
}

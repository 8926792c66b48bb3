import KelvinDevices
import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func offers(_ op: Binary, _ iteration: StridedIteration, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    let (left, right) = (context.inputs[0].shape, context.inputs[1].shape)
    let output = context.outputs[0].shape
    let node = context.node
    let dense = KernelOffer(context.dense(binary(op, left, right, output, iteration)))
    guard let operands = BlockedOperands(left, right, output, lanes: lanes) else { return [dense] }
    let kernel = NodeLowering<Self> { lowering throws(DeviceError) in try operands.lower(op, lowering, node) }
    return [dense, context.blocked(kernel, reads: operands.layouts)]
  }

  /// Returns the dispatch for dense operands, four elements at a time if each operand has the result's shape or a
  /// single element.
  private func binary(_ op: Binary, _ left: Shape, _ right: Shape, _ output: Shape, _ iteration: StridedIteration)
    -> KernelDispatch<VulkanProgram>
  {
    let code = Int(op.code)
    if left == output || right == output, left == output || left.count == 1, right == output || right.count == 1 {
      let groups = (output.count + 3) / 4
      return flat(
        "binary", [.float4, .float4], specializationConstants: [code, left == output ? 0 : 2, right == output ? 0 : 2],
        Parameters(groups, 1, 1, 1).inverses(1, 1, 1), count: groups)
    }
    // The axes, innermost first, filled up with ones.
    let missing = [Int](repeating: 0, count: StridedIteration.limit - iteration.axes.count)
    let sizes = iteration.axes.reversed().map(\.size) + missing.map { _ in 1 }
    let strides = [0, 1].flatMap { operand in iteration.axes.reversed().map { $0.strides[operand] } + missing }
    var parameters = Parameters([output.count] + sizes + strides)
    for size in sizes { parameters = parameters.inverses(size) }
    return flat("binary_broadcast", [.float, .float], specializationConstants: [code], parameters, count: output.count)
  }
}

/// Operands that each have the result's shape, one element, or one element for each channel of a blocked tensor.
private struct BlockedOperands {
  let shape: BlockedShape
  /// The kind of each operand: 0 for the result's shape, 1 for one element a channel, 2 for one element.
  let kinds: [Int]
  /// The number of planes after which a channel operand repeats.
  let planes: [Int]

  init?(_ left: Shape, _ right: Shape, _ output: Shape, lanes: Int) {
    shape = BlockedShape(output, lanes: lanes)
    guard output.rank >= 2, shape.channels % lanes == 0 else { return nil }
    var kinds: [Int] = []
    var planes: [Int] = []
    for operand in [left, right] {
      let padded = [Int](repeating: 1, count: output.rank - operand.rank) + operand.dimensions
      if operand == output {
        kinds.append(0)
      } else if operand.count == 1 {
        kinds.append(2)
      } else if padded[1] == shape.channels, padded.dropFirst(2).allSatisfy({ $0 == 1 }) {
        kinds.append(1)
      } else {
        return nil
      }
      planes.append(shape.blocks * (padded[0] == 1 ? 1 : shape.batch))
    }
    self.kinds = kinds
    self.planes = planes
  }

  /// An operand `[1 or N, C]` is already in blocks if four divides C.
  var layouts: [ValueLayout] { kinds.map { $0 == 0 ? .blocks(of: shape.lanes) : .dense } }

  func lower(_ op: Binary, _ lowering: VulkanLowering, _ node: Node) throws(DeviceError) {
    var reads: [Storage] = []
    for (layout, input) in zip(layouts, node.inputs) { reads.append(try lowering.read(input, layout)) }
    let call = lowering.target.flat(
      "binary", [.float4, .float4], specializationConstants: [Int(op.code)] + kinds,
      Parameters(shape.groups, shape.area, planes[0], planes[1]).inverses(shape.area, planes[0], planes[1]),
      count: shape.groups)
    lowering.run(call, reads, lowering.write(node.outputs[0], lowering.target.blocks))
  }
}

import KelvinDevices
import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func offers(_ op: BatchNormalization, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    let (node, blocks) = (context.node, blocks)
    let kernel = NodeLowering<Self> { lowering throws(DeviceError) in
      let shape = lowering.blocked(node.inputs[0])
      let values = node.inputs.dropFirst().map { lowering.graph[$0] }
      let names = values.map(\.name).joined(separator: "+")
      let constants = lowering.weight("\(names)/vulkan-affine-\(op.epsilon.bitPattern)", count: shape.blocks * 8) {
        target in
        let lists = values.compactMap { $0.weight?.dense().doubles }
        guard lists.count == 4 else { return }
        for channel in 0..<shape.channels {
          let scale = lists[0][channel] / (lists[3][channel] + Double(op.epsilon)).squareRoot()
          target[channel] = Float(scale)
          target[shape.blocks * 4 + channel] = Float(lists[1][channel] - scale * lists[2][channel])
        }
      }
      let call = lowering.target.flat(
        "batch_normalization", [.float4, .wide4],
        Parameters(shape.groups, shape.area, shape.blocks).inverses(shape.area, shape.blocks), count: shape.groups)
      let x = try lowering.read(node.inputs[0], blocks)
      lowering.run(call, [x, constants], lowering.write(node.outputs[0], blocks))
    }
    return [context.blocked(kernel)]
  }
}

import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addBatchNormalization() {
    add(BatchNormalization.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      try context.requireConstants(1..<5, "statistics")
      let node = context.node
      return Kernel { builder throws(DeviceError) in
        let shape = BlockedShape(builder.type(node.inputs[0]).shape)
        let values = node.inputs.dropFirst().map { builder.graph[$0] }
        let names = values.map(\.name).joined(separator: "+")
        let constants = try builder.weight(
          "\(names)/vulkan-affine-\(op.epsilon.bitPattern)", count: shape.blocks * 8
        ) { target in
          let lists = values.compactMap { $0.weight?.dense().doubles }
          guard lists.count == 4 else { return }
          for channel in 0..<shape.channels {
            let scale = lists[0][channel] / (lists[3][channel] + Double(op.epsilon)).squareRoot()
            target[channel] = Float(scale)
            target[shape.blocks * 4 + channel] = Float(lists[1][channel] - scale * lists[2][channel])
          }
        }
        var parameters = Parameters()
        parameters.add(shape.count, shape.area, shape.blocks)
        parameters.addInverses(shape.area, shape.blocks)
        let x = try builder.read(node.inputs[0], .blocked)
        builder.dispatchFlat(
          "batch_normalization", parameters, count: shape.count,
          reads: [Operand(region: x, format: .float4), Operand(region: constants, format: .float4)],
          write: try builder.write(node.outputs[0], .blocked))
      }
    }
  }
}

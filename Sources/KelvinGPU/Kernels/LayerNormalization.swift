internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addLayerNormalization<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(LayerNormalization.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let length = op.length(context.inputs)
      let rows = length == 0 ? 0 : context.inputs[0].count / length
      let call = context.target.layerNormalization(op, rows: rows, length: length, inputs: context.inputs.count)
      let node = context.node
      return NodeLowering { lowering throws(DeviceError) in
        var reads: [Storage] = []
        for input in node.inputs { reads.append(try lowering.read(input, .dense)) }
        while reads.count < 3 { reads.append(reads[0]) }
        lowering.run(call, reads, lowering.write(node.outputs[0], .dense))
      }
    }
  }
}

internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addLayerNormalization<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(LayerNormalization.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let length = op.length(context.inputs)
      let rows = length == 0 ? 0 : context.inputs[0].count / length
      let groups = LineGroups(Lines(outer: rows, length: length, inner: 1), group: context.target.lineGroup)
      let (node, inputs) = (context.node, context.inputs.count)
      return NodeLowering { lowering throws(DeviceError) in
        var reads: [Storage] = []
        for input in node.inputs { reads.append(try lowering.read(input, .dense)) }
        while reads.count < 3 { reads.append(reads[0]) }
        let call = { (pass: LinePass) in lowering.target.layerNormalization(op, groups, pass, inputs: inputs) }
        reads.append(lowering.statistics(of: groups, reads[0], call))
        lowering.run(call(.result), reads, lowering.write(node.outputs[0], .dense))
      }
    }
  }
}

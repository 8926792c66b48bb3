import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addLayerNormalization() {
    add(LayerNormalization.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let node = context.node
      let length = op.length(context.inputs)
      let rows = length == 0 ? 0 : context.inputs[0].count / length
      return Kernel { builder throws(DeviceError) in
        var parameters = Parameters()
        parameters.add(rows, length)
        parameters.add(op.epsilon)
        var reads: [Operand] = []
        for input in node.inputs { reads.append(Operand(region: try builder.read(input, .dense), format: .float)) }
        let (x, z) = builder.folded(rows)
        builder.dispatch(
          "layer_normalization", group: builder.traits.flatGroup,
          constants: [node.inputs.count > 1 ? 1 : 0, node.inputs.count > 2 ? 1 : 0], parameters, groups: [x, 1, z],
          reads: reads, write: try builder.write(node.outputs[0], .dense))
      }
    }
  }
}

import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addGather() {
    add(Gather.self) { op, context throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      let words = try context.element(x).words
      let kind = try context.element(indices).kind.rawValue
      let node = context.node
      let count = context.outputs[0].words
      let inner = x.shape.dimensions[(op.axis + 1)...].reduce(1, *) * words
      let extent = x.shape[op.axis]
      return Kernel { builder throws(DeviceError) in
        var parameters = Parameters()
        parameters.add(count, extent, indices.count, inner)
        parameters.addInverses(indices.count, inner)
        let source = Operand(region: try builder.read(node.inputs[0], .dense), format: .uint)
        builder.dispatchFlat(
          "gather", constants: [kind], parameters, count: count,
          reads: [source, try builder.elements(node.inputs[1])],
          write: try builder.write(node.outputs[0], .dense))
      }
    }
  }
}

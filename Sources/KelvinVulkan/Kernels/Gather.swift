import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addGather() {
    add(Gather.self) { op, context throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      try context.requireFloats([x])
      guard indices.scalar == .int32 || indices.scalar == .int64 else {
        throw context.unsupported("\(indices.scalar.rawValue) indices")
      }
      let node = context.node
      let count = context.outputs[0].count
      let inner = x.shape.dimensions[(op.axis + 1)...].reduce(1, *)
      let extent = x.shape[op.axis]
      return Kernel { builder throws(DeviceError) in
        var parameters = Parameters()
        parameters.add(count, extent, indices.count, inner)
        parameters.addInverses(indices.count, inner)
        let source = try builder.read(node.inputs[0], .dense)
        builder.dispatchFlat(
          "gather", constants: [indices.scalar == .int64 ? 1 : 0], parameters, count: count,
          reads: [Operand(region: source, format: .float), try builder.readIndices(node.inputs[1])],
          write: try builder.write(node.outputs[0], .dense))
      }
    }
  }
}

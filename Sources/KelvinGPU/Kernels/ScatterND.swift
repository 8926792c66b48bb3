internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addScatterND<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(ScatterND.self) { op, context throws(DeviceError) in
      let (x, indices) = (context.inputs[0].shape, context.inputs[1].shape)
      let axes = try IndexedAxes(0..<indices[indices.rank - 1], of: x, context)
      // One invocation processes a position of all slices alone and in the order of the tuples.
      return context.scattering(
        GPUKernel(
          "scatter_nd", [.number(context.inputs[0].scalar), .index(context.inputs[1].scalar)],
          constants: [("REDUCTION", Int(op.reduction.code))], reads: [.indices, .elements],
          Parameters([indices.dimensions.dropLast().reduce(1, *), axes.depth] + axes.parameters),
          of: x.dimensions[axes.depth...].reduce(1, *)))
    }
  }
}

import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addGatherElements() {
    add(GatherElements.self) { op, context throws(DeviceError) in
      let isPair = try context.element(context.inputs[0]).isPair
      let kind = try context.element(context.inputs[1]).kind.rawValue
      let shape = context.inputs[0].shape
      var strides = shape.strides
      let step = strides[op.axis]
      strides[op.axis] = 0
      let walk = Walk(context.outputs[0].shape, strides: [strides])
      try walk.check(context)
      let count = context.outputs[0].count
      var parameters = Parameters()
      parameters.add(count, shape[op.axis], step)
      walk.add(to: &parameters)
      let finished = parameters
      let node = context.node
      return Kernel { builder throws(DeviceError) in
        builder.dispatchFlat(
          "gather_elements", constants: [walk.axisCount, kind, isPair ? 1 : 0], finished, count: count,
          reads: [try builder.elements(node.inputs[0]), try builder.elements(node.inputs[1])],
          write: try builder.write(node.outputs[0], .dense))
      }
    }
  }
}

internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addGather() {
    add(Gather.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      let (x, indices) = (context.inputs[0], context.inputs[1])
      let index = indices.scalar.kernelName
      let outer = x.shape.dimensions[..<op.axis].reduce(1, *)
      let inner = x.shape.dimensions[(op.axis + 1)...].reduce(1, *)
      return Emitter { lowering throws(DeviceError) in
        let source = try lowering.place(lowering.node.inputs[0], .dense)
        let chosen = try lowering.place(lowering.node.inputs[1], .dense)
        let target = lowering.make(lowering.node.outputs[0], .dense)
        let run = min(lowering.tuning.run, max(inner, 1))
        let element = lowering.elementName(lowering.internalByteCount(x.scalar))
        lowering.run(
          KernelName(program: "gather", defines: ["ELEMENT=\(element)", "INDEX=\(index)"], function: "gather"),
          [source, chosen, target], [.int(x.shape[op.axis]), .int(indices.count), .int(inner), .int(run)],
          global: [(inner + run - 1) / run, outer * indices.count])
      }
    }
  }
}

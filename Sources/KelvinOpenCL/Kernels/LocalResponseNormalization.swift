internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addLocalResponseNormalization() {
    add(LocalResponseNormalization.self) { op, context throws(DeviceError) in
      try context.checkFloats()
      let shape = context.inputs[0].shape
      return Emitter { lowering throws(DeviceError) in
        let source = try lowering.place(lowering.node.inputs[0], .blocked)
        let target = lowering.make(lowering.node.outputs[0], .blocked)
        let (blocks, run) = (lowering.tuning.blocks(shape[1]), max(lowering.tuning.run / lowering.tuning.lanes, 1))
        let sizes = [shape[1], blocks, shape.pixels, run, min((op.size - 1) / 2, shape[1]), min(op.size / 2, shape[1])]
        lowering.run(
          KernelName(program: "local_response_normalization", function: "local_response_normalization"),
          [source, target],
          sizes.map { .int($0) } + [.float(op.k), .float(op.alpha / Float(op.size)), .float(op.beta)],
          global: [(shape.pixels + run - 1) / run, shape[0] * blocks])
      }
    }
  }
}

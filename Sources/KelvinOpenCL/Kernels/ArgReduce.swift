internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addArgReduce() {
    add(ArgReduce.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      let shape = context.inputs[0].shape
      let bits = op.scalar.byteCount * 8
      guard bits >= 32 || shape[op.axis] <= 1 << (bits - 1) else {
        throw context.unsupported("positions up to \(shape[op.axis] - 1) as \(op.scalar.rawValue)")
      }
      let outer = shape.dimensions[..<op.axis].reduce(1, *)
      let inner = shape.dimensions[(op.axis + 1)...].reduce(1, *)
      let defines = ["ELEMENT=\(context.inputs[0].scalar.kernelName)", "INDEX=\(op.scalar.kernelName)"]
      return Emitter { lowering throws(DeviceError) in
        let source = try lowering.place(lowering.node.inputs[0], .dense)
        let target = lowering.make(lowering.node.outputs[0], .dense)
        let lanes = lowering.tuning.lanes
        lowering.run(
          KernelName(program: "arg_reduce", defines: defines, function: "arg_reduce"), [source, target],
          [outer, shape[op.axis], inner, op.function == .minimum ? 1 : 0, op.takesLast ? 1 : 0].map { .int($0) },
          global: [outer * ((inner + lanes - 1) / lanes)])
      }
    }
  }
}

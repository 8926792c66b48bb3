internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addCumulativeSum() {
    add(CumulativeSum.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      let shape = context.inputs[0].shape
      let outer = shape.dimensions[..<op.axis].reduce(1, *)
      let inner = shape.dimensions[(op.axis + 1)...].reduce(1, *)
      let defines = context.inputs[0].scalar.wideDefines
      return Emitter { lowering throws(DeviceError) in
        let source = try lowering.place(lowering.node.inputs[0], .dense)
        let target = lowering.make(lowering.node.outputs[0], .dense)
        let run = min(lowering.tuning.run, max(inner, 1))
        let constants = [outer, shape[op.axis], inner, run, op.isExclusive ? 1 : 0, op.isReversed ? 1 : 0]
        lowering.run(
          KernelName(program: "cumulative_sum", defines: defines, function: "cumulative_sum"), [source, target],
          constants.map { .int($0) }, global: [(inner + run - 1) / run, outer])
      }
    }
  }
}

internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addGatherND() {
    add(GatherND.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      let (x, indices) = (context.inputs[0].shape, context.inputs[1].shape)
      let limit = 8
      let depth = indices[indices.rank - 1]
      guard depth <= limit else { throw context.unsupported("indices into more than \(limit) axes") }
      let batch = op.batchDimensions
      let axes = batch..<batch + depth
      let inner = x.dimensions[axes.upperBound...].reduce(1, *)
      let rows = indices.dimensions[batch..<indices.rank - 1].reduce(1, *)
      let slices = indices.dimensions.dropLast().reduce(1, *)
      let rest = Array(repeating: 1, count: limit - depth)
      let defines = [
        "ELEMENT=\(context.inputs[0].scalar.kernelName)", "INDEX=\(context.inputs[1].scalar.kernelName)",
      ]
      return Emitter { lowering throws(DeviceError) in
        let source = try lowering.place(lowering.node.inputs[0], .dense)
        let chosen = try lowering.place(lowering.node.inputs[1], .dense)
        let target = lowering.make(lowering.node.outputs[0], .dense)
        let run = min(lowering.tuning.run, max(inner, 1))
        let constants =
          [inner, rows, x.dimensions[batch...].reduce(1, *), depth, run] + axes.map { x[$0] } + rest
          + axes.map { x.strides[$0] } + rest
        lowering.run(
          KernelName(program: "gather_nd", defines: defines, function: "gather_nd"), [source, chosen, target],
          constants.map { .int($0) }, global: [(inner + run - 1) / run, slices])
      }
    }
  }
}

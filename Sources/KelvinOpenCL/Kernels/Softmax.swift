internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addSoftmax() {
    add(Softmax.self) { op, context throws(DeviceError) in
      try context.checkFloats()
      let shape = context.inputs[0].shape
      let outer = shape.dimensions[..<op.axis].reduce(1, *)
      let inner = shape.dimensions[(op.axis + 1)...].reduce(1, *)
      return Emitter { lowering throws(DeviceError) in
        let source = try lowering.place(lowering.node.inputs[0], .dense)
        let target = lowering.make(lowering.node.outputs[0], .dense)
        let lanes = lowering.tuning.lanes
        lowering.run(
          KernelName(program: "softmax", function: inner == 1 ? "softmax_rows" : "softmax_columns"), [source, target],
          [.int(outer), .int(shape[op.axis]), .int(inner)],
          global: [inner == 1 ? outer : outer * ((inner + lanes - 1) / lanes)])
      }
    }
  }
}

import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addSoftmax() {
    add(Softmax.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let node = context.node
      let shape = context.inputs[0].shape
      let length = shape[op.axis]
      let inner = shape.dimensions[(op.axis + 1)...].reduce(1, *)
      let lines = length == 0 ? 0 : shape.count / length
      return Kernel { builder throws(DeviceError) in
        var parameters = Parameters()
        parameters.add(lines, length, inner)
        parameters.addInverses(inner)
        let x = try builder.read(node.inputs[0], .dense)
        builder.dispatchFlat(
          "softmax", parameters, count: lines, reads: [Operand(region: x, format: .float)],
          write: try builder.write(node.outputs[0], .dense))
      }
    }
  }
}

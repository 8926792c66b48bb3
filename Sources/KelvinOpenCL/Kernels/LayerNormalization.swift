internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addLayerNormalization() {
    add(LayerNormalization.self) { op, context throws(DeviceError) in
      try context.checkFloats()
      let length = op.length(context.inputs)
      let rows = length == 0 ? 0 : context.inputs[0].count / length
      return Emitter { lowering throws(DeviceError) in
        var buffers: [Int] = []
        for input in lowering.node.inputs { buffers.append(try lowering.place(input, .dense)) }
        let count = buffers.count
        while buffers.count < 3 { buffers.append(buffers[0]) }
        buffers.append(lowering.make(lowering.node.outputs[0], .dense))
        lowering.run(
          KernelName(program: "layer_normalization", function: "layer_normalization"), buffers,
          [.int(length), .int(count > 1 ? 1 : 0), .int(count > 2 ? 1 : 0), .float(op.epsilon)],
          global: [rows * lowering.tuning.group])
      }
    }
  }
}

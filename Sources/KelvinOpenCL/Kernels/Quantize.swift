internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addQuantize() {
    add(Quantize.self) { op, context throws(DeviceError) in
      try quantizing(context, "quantize", op.axis, integers: op.scalar)
    }
  }

  mutating func addDequantize() {
    add(Dequantize.self) { op, context throws(DeviceError) in
      try quantizing(context, "dequantize", op.axis, integers: context.inputs[0].scalar)
    }
  }
}

/// An emitter of a kernel that looks up each element's scale and zero point.
private func quantizing(
  _ context: NodeContext, _ function: String, _ axis: QuantizationAxis, integers: ScalarType
) throws(DeviceError) -> Emitter {
  try context.checkSizes()
  let layout = axis.layout(context.inputs[0].shape)
  return Emitter { lowering throws(DeviceError) in
    var buffers: [Int] = []
    for input in lowering.node.inputs { buffers.append(try lowering.place(input, .dense)) }
    buffers.append(lowering.make(lowering.node.outputs[0], .dense))
    let run = min(lowering.tuning.run, max(layout.inner, 1))
    let constants = [
      layout.length, layout.inner, layout.block, layout.outerStride, layout.stride, layout.innerStride, run,
    ]
    lowering.run(
      KernelName(program: "quantize", defines: integers.wideDefines, function: function), buffers,
      constants.map { .int($0) }, global: [(layout.inner + run - 1) / run, layout.outer * layout.length])
  }
}

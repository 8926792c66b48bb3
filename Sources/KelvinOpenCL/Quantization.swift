internal import KelvinDevices
internal import KelvinGraph

/// An emitter of a kernel that looks up each element's scale and zero point.
func quantizing(
  _ context: NodeContext, _ function: String, _ axis: QuantizationAxis, integers: ScalarType
) throws(DeviceError) -> Emitter {
  try context.checkSizes()
  let strides = axis.strides(context.inputs[0].shape)
  return Emitter { lowering throws(DeviceError) in
    var buffers: [Int] = []
    for input in lowering.node.inputs { buffers.append(try lowering.place(input, .dense)) }
    buffers.append(lowering.make(lowering.node.outputs[0], .dense))
    let run = min(lowering.tuning.run, max(strides.inner, 1))
    let constants = [
      strides.length, strides.inner, strides.block, strides.outerStride, strides.stride, strides.innerStride, run,
    ]
    lowering.run(
      KernelName(program: "quantize", defines: integers.wideDefines, function: function), buffers,
      constants.map { .int($0) }, global: [(strides.inner + run - 1) / run, strides.outer * strides.length])
  }
}

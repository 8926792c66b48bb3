import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension CPUContext {
  /// Returns kernels whose inputs are x, scale and zero point.
  func quantization(
    _ axis: QuantizationAxis, integers: ScalarType, _ run: ck_run?
  ) throws(DeviceError) -> [KernelOffer<CPUKernel>] {
    for type in inputs + outputs where type.scalar == .float64 { throw unsupported("float64 arithmetic") }
    let dense = KernelOffer(quantization(axis.strides(outputs[0].shape), integers, run))
    guard let blocks, axis.axis == nil else { return [dense] }
    let whole = QuantizationAxis(nil).strides([blockedCount(outputs[0].shape)])
    return [
      dense,
      KernelOffer(
        quantization(whole, integers, run), "blocks", KernelLayouts(reads: [blocks], writes: [blocks])),
    ]
  }

  private func quantization(
    _ strides: QuantizationAxis.Strides, _ integers: ScalarType, _ run: ck_run?
  ) -> CPUKernel {
    var arguments = ck_quantize_args()
    arguments.type = integers.innerCode
    arguments.outer = strides.outer
    arguments.length = strides.length
    arguments.inner = strides.inner
    arguments.block = strides.block
    arguments.outer_stride = strides.outerStride
    arguments.stride = strides.stride
    arguments.inner_stride = strides.innerStride
    let items = strides.outer * strides.length * parts(strides.inner, of: Int(ck_map_chunk))
    return CPUKernel { [arguments] operands, list in
      var arguments = arguments
      arguments.x = operands.inputs[0]
      arguments.y = operands.outputs[0]
      arguments.scale = operands.floats(1)
      arguments.zero = operands.inputs[2]
      list.add(run, arguments, items: items, cost: min(strides.inner, Int(ck_map_chunk)))
    }
  }
}

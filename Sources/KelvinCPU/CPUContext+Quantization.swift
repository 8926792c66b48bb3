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
    let items = strides.outer * strides.length * parts(strides.inner, of: Int(ck_map_chunk))
    return CPUKernel { operands, list in
      let arguments = ck_quantize_args(
        x: operands.inputs[0], y: operands.outputs[0], scale: operands.floats(1), zero: operands.inputs[2],
        type: integers.innerCode, outer: strides.outer, length: strides.length, inner: strides.inner,
        block: strides.block, outer_stride: strides.outerStride, stride: strides.stride,
        inner_stride: strides.innerStride)
      list.add(run, arguments, items: items, cost: min(strides.inner, Int(ck_map_chunk)))
    }
  }
}

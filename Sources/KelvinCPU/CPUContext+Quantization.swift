import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension QuantizationAxis.Strides {
  /// The same parameters with contiguous elements as the inner axis: rows of them, or blocks that divide rows.
  fileprivate var alongRows: QuantizationAxis.Strides {
    guard inner == 1, length > 1, length % block == 0 else { return self }
    var rows = self
    rows.block = 1
    if block == 1 {
      (rows.length, rows.inner) = (1, length)
      (rows.stride, rows.innerStride) = (0, stride)
    } else {
      (rows.length, rows.inner) = (length / block, block)
      rows.innerStride = 0
    }
    return rows
  }
}

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
    let strides = strides.alongRows
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

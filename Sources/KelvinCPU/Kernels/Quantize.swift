import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addQuantize() {
    add(Quantize.self) { (op, context) throws(DeviceError) in
      try context.quantization(op.axis, integers: op.scalar, context.integers.quantize)
    }
  }

  mutating func addDequantize() {
    add(Dequantize.self) { (op, context) throws(DeviceError) in
      try context.quantization(op.axis, integers: context.inputs[0].scalar, context.integers.dequantize)
    }
  }
}

extension CPUContext {
  /// A kernel whose inputs are x, scale and zero point.
  fileprivate func quantization(
    _ axis: QuantizationAxis, integers: ScalarType, _ run: ck_run?
  ) throws(DeviceError) -> CPUKernel {
    for type in inputs + outputs where type.scalar == .float64 { throw unsupported("float64 arithmetic") }
    let layout = axis.layout(outputs[0].shape)
    var arguments = ck_quantize_args()
    arguments.type = integers.innerCode
    arguments.outer = layout.outer
    arguments.length = layout.length
    arguments.inner = layout.inner
    arguments.block = layout.block
    arguments.outer_stride = layout.outerStride
    arguments.stride = layout.stride
    arguments.inner_stride = layout.innerStride
    let items = layout.outer * layout.length * parts(layout.inner, of: Int(ck_map_chunk))
    return CPUKernel { [arguments] operands, list in
      var arguments = arguments
      arguments.x = operands.inputs[0]
      arguments.y = operands.outputs[0]
      arguments.scale = operands.floats(1)
      arguments.zero = operands.inputs[2]
      list.add(run, arguments, items: items, cost: min(layout.inner, Int(ck_map_chunk)))
    }
  }
}

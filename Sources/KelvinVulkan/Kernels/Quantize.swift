import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addQuantize() {
    add(Quantize.self) { op, context throws(DeviceError) in
      try context.requireFloats([context.inputs[0]])
      let element = try context.element(context.outputs[0])
      return try context.kernel("quantize", op.axis, constants: [element.kind.rawValue, element.bits])
    }
  }

  mutating func addDequantize() {
    add(Dequantize.self) { op, context throws(DeviceError) in
      try context.requireFloats(context.outputs)
      return try context.kernel(
        "dequantize", op.axis, constants: [try context.element(context.inputs[0]).kind.rawValue])
    }
  }
}

extension KernelContext {
  /// A kernel that looks up each element's scale and zero point.
  fileprivate func kernel(
    _ shader: String, _ axis: QuantizationAxis, constants: [Int]
  ) throws(DeviceError) -> Kernel {
    try requireFloats([inputs[1]])
    let layout = axis.layout(inputs[0].shape)
    let count = outputs[0].count
    var parameters = Parameters()
    parameters.add(
      count, layout.length, layout.inner, layout.block, layout.outerStride, layout.stride, layout.innerStride)
    parameters.addInverses(layout.length, layout.inner, layout.block)
    let (node, finished) = (node, parameters)
    return Kernel { builder throws(DeviceError) in
      let scale = Operand(region: try builder.read(node.inputs[1], .dense), format: .float)
      builder.dispatchFlat(
        shader, constants: constants, finished, count: count,
        reads: [try builder.elements(node.inputs[0]), scale, try builder.elements(node.inputs[2])],
        write: try builder.write(node.outputs[0], .dense))
    }
  }
}

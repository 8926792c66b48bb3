import KelvinDevices
import KelvinGraph

extension KernelContext {
  /// A kernel that looks up each element's scale and zero point.
  func kernel(
    _ shader: String, _ axis: QuantizationAxis, constants: [Int]
  ) throws(DeviceError) -> Kernel {
    try requireFloats([inputs[1]])
    let strides = axis.strides(inputs[0].shape)
    let count = outputs[0].count
    var parameters = Parameters()
    parameters.add(
      count, strides.length, strides.inner, strides.block, strides.outerStride, strides.stride, strides.innerStride)
    parameters.addInverses(strides.length, strides.inner, strides.block)
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

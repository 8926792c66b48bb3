internal import KelvinDevices
internal import KelvinGraph

extension KernelContext {
  /// Returns a lowering to one kernel that reads elements, scales and, if there are any, zero points
  /// (`Shaders/shared/scaling.kernel`).
  ///
  /// - Parameters:
  ///   - scalar: the type of the integers.
  ///   - x: the operand of elements.
  func scaling(
    _ name: String, _ axis: QuantizationAxis, of scalar: ScalarType, reading x: GPUKernel.Operand
  ) -> NodeLowering<Target> {
    let strides = axis.strides(inputs[0].shape)
    let kernel = GPUKernel(
      name, [.number(scalar)], reads: [x, .wideFloats, .elements],
      Parameters(strides.length, strides.block, strides.outerStride, strides.stride, strides.innerStride),
      rows: strides.outer * strides.length, of: strides.inner)
    let node = node
    return NodeLowering { lowering throws(DeviceError) in
      var reads = [try lowering.read(node.inputs[0], .dense), try lowering.parameters(node.inputs[1])]
      for input in node.inputs.dropFirst(2) { reads.append(try lowering.read(input, .dense)) }
      lowering.run(kernel, reads, lowering.write(node.outputs[0], .dense))
    }
  }
}

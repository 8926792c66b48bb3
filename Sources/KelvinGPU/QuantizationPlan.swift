internal import KelvinDevices
package import KelvinGraph

/// The positions of the scale and zero point of each element of a dense tensor `[outer, length, inner]`.
package struct QuantizationPlan: Sendable {
  package let strides: QuantizationAxis.Strides
  package let count: Int
  /// The type of the integers.
  package let scalar: ScalarType

  init(_ axis: QuantizationAxis, _ shape: Shape, _ scalar: ScalarType) {
    strides = axis.strides(shape)
    count = shape.count
    self.scalar = scalar
  }
}

extension KernelContext {
  /// Returns a lowering to one kernel that reads elements, scales and, if there are any, zero points.
  func scaling(_ call: KernelDispatch<Target.Program>) -> NodeLowering<Target> {
    let node = node
    return NodeLowering { lowering throws(DeviceError) in
      var reads = [try lowering.read(node.inputs[0], .dense), try lowering.parameters(node.inputs[1])]
      for input in node.inputs.dropFirst(2) { reads.append(try lowering.read(input, .dense)) }
      lowering.run(call, reads, lowering.write(node.outputs[0], .dense))
    }
  }
}

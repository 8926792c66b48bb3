internal import KelvinDevices
internal import KelvinGraph

/// A convolution over three axes, or its transpose, of dense tensors. Kernels read x, weights, bias and residual; an
/// operand that the node lacks is replaced by x.
package struct VolumeConvolutionPlan: Sendable {
  package let window: SpatialWindow
  package let images: Int
  package let outputs: Int
  /// Input channels of one group.
  package let groupInputs: Int
  package let groupOutputs: Int
  package let isTransposed: Bool
  package let hasBias: Bool
  package let addsResidual: Bool

  package var count: Int { images * outputs * window.outputCount }
}

extension KernelContext {
  /// Returns the only implementation of convolutions over three axes.
  func volume(_ window: Window, groups: Int, _ epilogue: Epilogue, isTransposed: Bool) throws(DeviceError)
    -> NodeLowering<Target>
  {
    let (x, outputs) = (inputs[0].shape, self.outputs[0].shape[1])
    let plan = VolumeConvolutionPlan(
      window: try SpatialWindow(window, axes: 3, self), images: x[0], outputs: outputs, groupInputs: x[1] / groups,
      groupOutputs: outputs / groups, isTransposed: isTransposed, hasBias: epilogue.hasBias,
      addsResidual: epilogue.addsResidual)
    let node = node
    return NodeLowering { lowering throws(DeviceError) in
      let x = try lowering.read(node.inputs[0], .dense)
      let weights = try lowering.read(node.inputs[1], .dense)
      let bias = try epilogue.hasBias ? lowering.read(node.inputs[2], .dense) : x
      let residual = try lowering.residual(epilogue, .dense) ?? x
      let call = lowering.target.convolutionVolume(plan)
      guard let activation = epilogue.activation else {
        lowering.run(call, [x, weights, bias, residual], lowering.write(node.outputs[0], .dense))
        return
      }
      let scalar = lowering.type(node.outputs[0]).scalar
      let sums = lowering.run(call, [x, weights, bias, residual], lowering.temporary(plan.count, of: scalar))
      lowering.run(
        lowering.target.unary(activation, count: plan.count), [sums], lowering.write(node.outputs[0], .dense))
    }
  }
}

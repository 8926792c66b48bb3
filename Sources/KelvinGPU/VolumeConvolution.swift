internal import KelvinDevices
internal import KelvinGraph

extension KernelContext {
  /// Returns the only implementation of convolutions over three axes. The kernel reads dense x, weights, bias and
  /// residual; an operand that the node lacks is replaced by x.
  func volume(_ window: Window, groups: Int, _ epilogue: Epilogue, isTransposed: Bool) throws(DeviceError)
    -> NodeLowering<Target>
  {
    let (x, outputs) = (inputs[0].shape, self.outputs[0].shape[1])
    let spatial = try SpatialWindow(window, axes: 3, self)
    let count = x[0] * outputs * spatial.outputCount
    let kernel = GPUKernel(
      "convolution_volume",
      constants: [
        ("TRANSPOSED", isTransposed ? 1 : 0), ("BIAS", epilogue.hasBias ? 1 : 0),
        ("RESIDUAL", epilogue.addsResidual ? 1 : 0),
      ], reads: [.floats, .floats, .floats, .floats],
      Parameters(
        spatial.output + [outputs, outputs / groups, x[1] / groups] + spatial.input + spatial.geometry), of: count,
      cost: 16)
    let node = node
    return NodeLowering { lowering throws(DeviceError) in
      let x = try lowering.read(node.inputs[0], .dense)
      let weights = try lowering.read(node.inputs[1], .dense)
      let bias = try epilogue.hasBias ? lowering.read(node.inputs[2], .dense) : x
      let residual = try lowering.residual(epilogue, .dense) ?? x
      guard let activation = epilogue.activation else {
        lowering.run(kernel, [x, weights, bias, residual], lowering.write(node.outputs[0], .dense))
        return
      }
      let scalar = lowering.type(node.outputs[0]).scalar
      let sums = lowering.run(kernel, [x, weights, bias, residual], lowering.temporary(count, of: scalar))
      lowering.run(
        .unary(activation, count: count), [sums], lowering.write(node.outputs[0], .dense))
    }
  }
}

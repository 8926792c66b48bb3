internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func offers(_ op: BatchNormalization, _ context: KernelContext<Self>) -> [GPUOffer<Self>] {
    [KernelOffer(kernel(op, .dense, context.node)), context.blocked(kernel(op, blocks, context.node))]
  }

  private func kernel(_ op: BatchNormalization, _ layout: ValueLayout, _ node: Node) -> NodeLowering<Self> {
    let isBlocked = layout == blocks
    return NodeLowering { lowering throws(DeviceError) in
      let (x, y, target) = (node.inputs[0], node.outputs[0], lowering.target)
      let shape = lowering.blocked(x)
      let lanes = isBlocked ? shape.lanes : 1
      let statistics = try lowering.statistics(op, channels: shape.channels, lanes: lanes)
      let run = max(target.tuning.run / lanes, shape.lanes)
      let planes = shape.batch * (isBlocked ? shape.blocks : shape.channels)
      let call = target.call(
        KernelName(program: "batch_normalization", function: "batch_normalization"),
        Parameters(shape.channels, shape.area, run, isBlocked ? 1 : 0),
        items: target.pieces(shape.area, of: run), planes)
      lowering.run(call, [try lowering.read(x, layout), statistics], lowering.write(y, layout))
    }
  }
}

extension OpenCLLowering {
  /// Returns the mean, factor and shift of each channel: `[3][channels rounded up to whole lanes]`.
  fileprivate func statistics(_ op: BatchNormalization, channels: Int, lanes: Int) throws(DeviceError) -> Storage {
    let weights = node.inputs.dropFirst().compactMap { graph[$0].weight }
    guard weights.count == 4 else { throw error(.unsupported, "statistics that are not constant") }
    let names = node.inputs.dropFirst().map { graph[$0].name }.joined(separator: "+")
    let step = (channels + lanes - 1) / lanes * lanes
    return weight("\(names)/statistics-\(lanes)-\(op.epsilon)", count: 3 * step) { target in
      let (scale, shift) = (weights[0].dense().doubles, weights[1].dense().doubles)
      let (mean, variance) = (weights[2].dense().doubles, weights[3].dense().doubles)
      for channel in 0..<channels {
        target[channel] = Float(mean[channel])
        target[step + channel] = Float(scale[channel] / (variance[channel] + Double(op.epsilon)).squareRoot())
        target[2 * step + channel] = Float(shift[channel])
      }
    }
  }
}

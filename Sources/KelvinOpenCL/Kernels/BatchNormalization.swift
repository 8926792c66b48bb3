internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addBatchNormalization() {
    add(BatchNormalization.self) { op, context throws(DeviceError) in
      try context.checkFloats()
      for input in 1...4 { try context.checkConstant(input, "statistics") }
      return Emitter { lowering throws(DeviceError) in
        let (x, y) = (lowering.node.inputs[0], lowering.node.outputs[0])
        let shape = lowering.type(x).shape
        let layout: Layout = lowering.isBlocked(x) && !lowering.isOnlyOutput(y) ? .blocked : .dense
        let lanes = layout == .blocked ? lowering.tuning.lanes : 1
        let statistics = try lowering.statistics(op, channels: shape[1], lanes: lanes)
        let source = try lowering.place(x, layout)
        let target = lowering.make(y, layout)
        let run = max(lowering.tuning.run / lanes, lowering.tuning.lanes)
        let planes = shape[0] * (layout == .blocked ? lowering.tuning.blocks(shape[1]) : shape[1])
        lowering.run(
          KernelName(program: "batch_normalization", function: "batch_normalization"), [source, statistics, target],
          [.int(shape[1]), .int(shape.pixels), .int(run), .int(layout == .blocked ? 1 : 0)],
          global: [(shape.pixels + run - 1) / run, planes])
      }
    }
  }
}

extension Lowering {
  /// Mean, factor and shift of each channel: `[3][channels rounded up to whole lanes]`.
  fileprivate mutating func statistics(
    _ op: BatchNormalization, channels: Int, lanes: Int
  ) throws(DeviceError) -> Int {
    let weights = node.inputs.dropFirst().compactMap { graph[$0].weight }
    guard weights.count == 4 else { throw error(.unsupported, "statistics that are not constant") }
    let names = node.inputs.dropFirst().map { graph[$0].name }.joined(separator: "+")
    let step = (channels + lanes - 1) / lanes * lanes
    return try packed("\(names)/statistics-\(lanes)-\(op.epsilon)", count: 3 * step) { target in
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

internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addConvolutionInteger<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(ConvolutionInteger.self) { op, context throws(DeviceError) in
      try context.requireConstants(1..<2, "weights")
      try context.requireTable(op.requantization, first: 4)
      let (x, weights) = (context.inputs[0], context.inputs[1])
      let (channels, columns) = (weights.shape[1], weights.shape[0] / op.groups)
      let plan = IntegerProductPlan(
        window: try SpatialWindow(op.window, axes: 3, context), images: x.shape[0], groups: op.groups,
        channels: channels,
        columns: columns, storedColumns: context.target.storedColumns(columns), areRows: false, hasOwnWeights: false,
        x: x.scalar, weights: weights.scalar, requantization: op.requantization)
      let taps = plan.window.taps
      return context.offers(
        plan,
        IntegerWeights(order: "filters") { group, column, channel, tap in
          ((group * columns + column) * channels + channel) * taps + tap
        })
    }
  }
}

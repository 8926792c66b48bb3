import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addTranspose() {
    addOffers(Transpose.self) { (op, context) throws(DeviceError) in
      let strides = context.inputs[0].shape.strides
      let shape = context.outputs[0].shape
      let copy = try CPUCopy(
        sizes: shape.dimensions, source: op.permutation.map { strides[$0] }, target: shape.strides,
        element: context.inputs[0].scalar.innerByteCount, in: context)
      let moving = LayoutPlan.startCost + Double(shape.count)
      var offers = [
        KernelOffer(
          CPUKernel { operands, list in copy.record(from: operands.inputs[0], to: operands.outputs[0], list) }, "copy",
          extraCost: moving)
      ]
      if op.movesChannelsLast { offers.append(KernelOffer(.view(), "from rows", KernelLayouts(reads: [.rows]))) }
      if op.movesChannelsFirst { offers.append(KernelOffer(.view(), "to rows", KernelLayouts(writes: [.rows]))) }
      return offers
    }
  }
}

extension Transpose {
  /// `[N, C, …]` to `[N, …, C]`: the result is the input's row layout.
  fileprivate var movesChannelsLast: Bool {
    permutation.count > 2 && permutation == [0] + Array(2..<permutation.count) + [1]
  }

  /// `[N, …, C]` to `[N, C, …]`: the input is the result's row layout.
  fileprivate var movesChannelsFirst: Bool {
    permutation.count > 2 && permutation == [0, permutation.count - 1] + Array(1..<permutation.count - 1)
  }
}

import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addCumulativeSum() {
    add(CumulativeSum.self) { op, context throws(DeviceError) in
      let element = try context.element(context.inputs[0])
      let lines = Lines(context.inputs[0].shape, axis: op.axis)
      let node = context.node
      return Kernel { builder throws(DeviceError) in
        try lines.build(
          builder, node, "cumulative_sum",
          constants: [element.kind.rawValue, element.bits, op.isExclusive ? 1 : 0, op.isReversed ? 1 : 0])
      }
    }
  }
}

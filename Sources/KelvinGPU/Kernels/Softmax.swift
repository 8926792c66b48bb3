internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addSoftmax<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    addOffers(Softmax.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let lines = Lines(context.inputs[0].shape, axis: op.axis)
      let alone = context.dense(context.target.softmax(lines))
      guard let groups = context.groups(sharing: lines) else { return [KernelOffer(alone)] }
      let node = context.node
      let shared = NodeLowering<Target> { lowering throws(DeviceError) in
        let x = try lowering.read(node.inputs[0], .dense)
        let call = { (pass: LinePass) in lowering.target.softmax(groups, pass) }
        let statistics = lowering.statistics(of: groups, x, call)
        lowering.run(call(.result), [x, statistics], lowering.write(node.outputs[0], .dense))
      }
      return [KernelOffer(shared, LineGroups.way), KernelOffer(alone, handicap: context.handicap(of: groups))]
    }
  }
}

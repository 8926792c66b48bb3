internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addReshape<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Reshape.self) { _, context throws(DeviceError) in
      let node = context.node
      return NodeLowering { lowering throws(DeviceError) in try lowering.rename(node.inputs[0], to: node.outputs[0]) }
    }
  }
}

import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addReshape() {
    add(Reshape.self) { _, context throws(DeviceError) in
      try context.requireElements()
      let node = context.node
      return Kernel { builder throws(DeviceError) in try builder.rename(node.inputs[0], to: node.outputs[0]) }
    }
  }
}

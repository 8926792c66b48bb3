import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addExpand() {
    add(Expand.self) { (op, context) throws(DeviceError) in
      let copy = try CPUCopy(
        sizes: op.shape.dimensions, source: context.inputs[0].shape.strides(broadcastTo: op.shape),
        target: op.shape.strides, element: context.inputs[0].scalar.innerByteCount, in: context)
      return CPUKernel { operands, list in copy.record(from: operands.inputs[0], to: operands.outputs[0], list) }
    }
  }
}

import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addTranspose() {
    add(Transpose.self) { (op, context) throws(DeviceError) in
      let strides = context.inputs[0].shape.strides
      let shape = context.outputs[0].shape
      let copy = try CPUCopy(
        sizes: shape.dimensions, source: op.permutation.map { strides[$0] }, target: shape.strides,
        element: context.inputs[0].scalar.innerByteCount, in: context)
      return CPUKernel { operands, list in copy.record(from: operands.inputs[0], to: operands.outputs[0], list) }
    }
  }
}

import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addConcat() {
    add(Concat.self) { (op, context) throws(DeviceError) in
      let strides = context.outputs[0].shape.strides
      var position = 0
      var copies: [CPUCopy] = []
      for input in context.inputs {
        copies.append(
          try CPUCopy(
            sizes: input.shape.dimensions, source: input.shape.strides, target: strides,
            targetOffset: position * strides[op.axis], element: input.scalar.innerByteCount, in: context))
        position += input.shape[op.axis]
      }
      return CPUKernel { [copies] operands, list in
        for (index, copy) in copies.enumerated() {
          copy.record(from: operands.inputs[index], to: operands.outputs[0], list)
        }
      }
    }
  }
}

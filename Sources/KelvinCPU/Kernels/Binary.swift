import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addBinary() {
    add(Binary.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      let shape = context.outputs[0].shape
      let layout = StridedLayout(
        shape.dimensions, context.inputs.map { $0.shape.strides(broadcastTo: shape) } + [shape.strides])
      guard layout.rank <= ck_max_rank else { throw context.unsupported("broadcasting over \(layout.rank) axes") }
      let run = context.variant.kernels.binary
      return CPUKernel { operands, list in
        var arguments = ck_binary_args()
        arguments.x = operands.floats(0)
        arguments.y = operands.floats(1)
        arguments.z = operands.result()
        arguments.function = Int(op.code)
        arguments.rank = layout.rank
        fill(&arguments.sizes, with: layout.sizes)
        fill(&arguments.x_strides, with: layout.strides[0])
        fill(&arguments.y_strides, with: layout.strides[1])
        list.add(
          run, arguments, items: layout.outerCount * parts(layout.innerCount, of: Int(ck_map_chunk)),
          cost: min(layout.innerCount, Int(ck_map_chunk)) * (op.function == .power ? 20 : 1))
      }
    }
  }
}

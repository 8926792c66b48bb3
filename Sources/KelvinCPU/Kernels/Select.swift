import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addSelect() {
    add(Select.self) { (_, context) throws(DeviceError) in
      let shape = context.outputs[0].shape
      let layout = StridedLayout(
        shape.dimensions, context.inputs.map { $0.shape.strides(broadcastTo: shape) } + [shape.strides])
      guard layout.rank <= ck_max_rank else { throw context.unsupported("broadcasting over \(layout.rank) axes") }
      let run = context.variant.kernels.select
      let element = context.outputs[0].scalar.innerByteCount
      return CPUKernel { operands, list in
        var arguments = ck_select_args()
        arguments.condition = operands.inputs[0]?.assumingMemoryBound(to: UInt8.self)
        arguments.x = operands.inputs[1]
        arguments.y = operands.inputs[2]
        arguments.z = operands.outputs[0]
        arguments.element = element
        arguments.rank = layout.rank
        fill(&arguments.sizes, with: layout.sizes)
        fill(&arguments.condition_strides, with: layout.strides[0])
        fill(&arguments.x_strides, with: layout.strides[1])
        fill(&arguments.y_strides, with: layout.strides[2])
        list.add(run, arguments, items: layout.chunkedItems, cost: min(layout.innerCount, Int(ck_map_chunk)))
      }
    }
  }
}

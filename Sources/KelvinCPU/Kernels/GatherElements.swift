import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addGatherElements() {
    add(GatherElements.self) { (op, context) throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      let rank = x.shape.rank
      guard rank <= ck_max_rank else { throw context.unsupported("tensors of \(rank) axes") }
      var arguments = ck_gather_elements_args()
      arguments.index_type = indices.scalar.innerCode
      arguments.element = x.scalar.innerByteCount
      arguments.rank = rank
      arguments.axis = op.axis
      arguments.length = x.shape[op.axis]
      fill(&arguments.sizes, with: indices.shape.dimensions)
      fill(&arguments.x_strides, with: x.shape.strides)
      let row = indices.shape[rank - 1]
      return CPUKernel { [arguments] operands, list in
        var arguments = arguments
        arguments.x = operands.inputs[0]
        arguments.indices = operands.inputs[1]
        arguments.fault = list.fault
        arguments.node = UInt32(list.node)
        arguments.y = operands.outputs[0]
        list.add(ck_gather_elements_run, arguments, items: row == 0 ? 0 : indices.count / row, cost: 4 * row)
      }
    }
  }
}

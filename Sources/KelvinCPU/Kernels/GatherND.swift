import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addGatherND() {
    add(GatherND.self) { (op, context) throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      let depth = indices.shape[indices.shape.rank - 1]
      let axes = op.batchDimensions..<op.batchDimensions + depth
      guard depth <= ck_max_rank else { throw context.unsupported("tuples of \(depth) indices") }
      let element = x.scalar.innerByteCount
      let items = indices.shape.dimensions.dropLast().reduce(1, *)
      var arguments = ck_gather_nd_args()
      arguments.index_type = indices.scalar.innerCode
      arguments.depth = depth
      arguments.tuples = indices.shape.dimensions[op.batchDimensions...].dropLast().reduce(1, *)
      fill(&arguments.lengths, with: axes.map { x.shape[$0] })
      fill(&arguments.strides, with: axes.map { x.shape.strides[$0] * element })
      arguments.x_step = x.shape.dimensions[op.batchDimensions...].reduce(element, *)
      arguments.inner = x.shape.dimensions[axes.upperBound...].reduce(element, *)
      return CPUKernel { [arguments] operands, list in
        var arguments = arguments
        arguments.x = operands.inputs[0]
        arguments.indices = operands.inputs[1]
        arguments.fault = list.fault
        arguments.node = UInt32(list.node)
        arguments.y = operands.outputs[0]
        list.add(
          ck_gather_nd_run, arguments, items: arguments.inner == 0 ? 0 : items, cost: 4 * depth + arguments.inner / 4)
      }
    }
  }
}

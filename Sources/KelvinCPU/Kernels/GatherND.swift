import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addGatherND() {
    add(GatherND.self) { (op, context) throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      let depth = indices.shape[indices.shape.rank - 1]
      let indexed = op.batchDimensions..<op.batchDimensions + depth
      guard depth <= ck_max_rank else { throw context.unsupported("tuples of \(depth) indices") }
      let element = x.scalar.innerByteCount
      let items = indices.shape.dimensions.dropLast().reduce(1, *)
      let tuples = indices.shape.dimensions[op.batchDimensions...].dropLast().reduce(1, *)
      let step = x.shape.dimensions[op.batchDimensions...].reduce(element, *)
      let inner = x.shape.dimensions[indexed.upperBound...].reduce(element, *)
      return CPUKernel { operands, list in
        let arguments = ck_gather_nd_args(
          x: operands.inputs[0], indices: operands.inputs[1], y: operands.outputs[0], fault: list.fault,
          node: UInt32(list.node), index_type: indices.scalar.innerCode, tuples: tuples, depth: depth,
          lengths: axes(indexed.map { x.shape[$0] }), strides: axes(indexed.map { x.shape.strides[$0] * element }),
          x_step: step, inner: inner)
        list.add(ck_gather_nd_run, arguments, items: inner == 0 ? 0 : items, cost: 4 * depth + inner / 4)
      }
    }
  }
}

import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addGatherElements() {
    add(GatherElements.self) { (op, context) throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      let rank = x.shape.rank
      guard rank <= ck_max_rank else { throw context.unsupported("tensors of \(rank) axes") }
      let row = indices.shape[rank - 1]
      return CPUKernel { operands, list in
        let arguments = ck_gather_elements_args(
          x: operands.inputs[0], indices: operands.inputs[1], y: operands.outputs[0], fault: list.fault,
          node: UInt32(list.node), index_type: indices.scalar.innerCode, element: x.scalar.innerByteCount, rank: rank,
          axis: op.axis, length: x.shape[op.axis], sizes: axes(indices.shape.dimensions),
          x_strides: axes(x.shape.strides))
        list.add(ck_gather_elements_run, arguments, items: row == 0 ? 0 : indices.count / row, cost: 4 * row)
      }
    }
  }
}

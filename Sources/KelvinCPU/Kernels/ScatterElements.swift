import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addScatterElements() {
    add(ScatterElements.self) { (op, context) throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      let rank = x.shape.rank
      guard rank <= ck_max_rank else { throw context.unsupported("tensors of \(rank) axes") }
      if op.reduction != .replace { _ = try context.usesIntegers() }
      let items = indices.shape.dimensions[..<op.axis].reduce(1, *)
      var kernel = CPUKernel { operands, list in
        let arguments = ck_scatter_elements_args(
          indices: operands.inputs[1], updates: operands.inputs[2], y: operands.outputs[0],
          fault: op.skipsOutside ? nil : list.fault, node: UInt32(list.node), index_type: indices.scalar.innerCode,
          type: x.scalar.innerCode, reduction: ck_scatter(op.reduction.code), rank: rank, axis: op.axis,
          length: x.shape[op.axis], sizes: axes(indices.shape.dimensions), y_strides: axes(x.shape.strides))
        list.addCopy(
          UnsafeMutableRawPointer(mutating: operands.inputs[0]), operands.outputs[0], x.count,
          element: x.scalar.innerByteCount)
        list.add(
          ck_scatter_elements_run, arguments, items: indices.count == 0 ? 0 : items,
          cost: 8 * (indices.count / max(items, 1)))
      }
      kernel.updatedInput = 0
      return kernel
    }
  }
}

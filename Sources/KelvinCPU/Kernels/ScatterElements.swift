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
      var arguments = ck_scatter_elements_args()
      arguments.index_type = indices.scalar.innerCode
      arguments.type = x.scalar.innerCode
      arguments.reduction = ck_scatter(op.reduction.code)
      arguments.rank = rank
      arguments.axis = op.axis
      arguments.length = x.shape[op.axis]
      fill(&arguments.sizes, with: indices.shape.dimensions)
      fill(&arguments.y_strides, with: x.shape.strides)
      let items = indices.shape.dimensions[..<op.axis].reduce(1, *)
      return CPUKernel { [arguments] operands, list in
        var arguments = arguments
        arguments.indices = operands.inputs[1]
        arguments.fault = op.skipsOutside ? nil : list.fault
        arguments.node = UInt32(list.node)
        arguments.updates = operands.inputs[2]
        arguments.y = operands.outputs[0]
        list.addCopy(
          UnsafeMutableRawPointer(mutating: operands.inputs[0]), operands.outputs[0], x.count,
          element: x.scalar.innerByteCount)
        list.add(
          ck_scatter_elements_run, arguments, items: indices.count == 0 ? 0 : items,
          cost: 8 * (indices.count / max(items, 1)))
      }
    }
  }
}

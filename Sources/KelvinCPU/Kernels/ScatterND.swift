import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addScatterND() {
    add(ScatterND.self) { (op, context) throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      let depth = indices.shape[indices.shape.rank - 1]
      guard depth <= ck_max_rank else { throw context.unsupported("tuples of \(depth) indices") }
      if op.reduction != .replace { _ = try context.usesIntegers() }
      var arguments = ck_scatter_nd_args()
      arguments.index_type = indices.scalar.innerCode
      arguments.type = x.scalar.innerCode
      arguments.reduction = ck_scatter(op.reduction.code)
      arguments.tuples = indices.shape.dimensions.dropLast().reduce(1, *)
      arguments.depth = depth
      fill(&arguments.lengths, with: Array(x.shape.dimensions[..<depth]))
      fill(&arguments.strides, with: Array(x.shape.strides[..<depth]))
      arguments.inner = x.shape.dimensions[depth...].reduce(1, *)
      let chunk = Int(ck_map_chunk)
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
          ck_scatter_nd_run, arguments, items: parts(arguments.inner, of: chunk),
          cost: arguments.tuples * (4 * depth + min(arguments.inner, chunk)))
      }
    }
  }
}

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
      let tuples = indices.shape.dimensions.dropLast().reduce(1, *)
      let inner = x.shape.dimensions[depth...].reduce(1, *)
      let chunk = Int(ck_map_chunk)
      var kernel = CPUKernel { operands, list in
        let arguments = ck_scatter_nd_args(
          indices: operands.inputs[1], updates: operands.inputs[2], y: operands.outputs[0],
          fault: op.skipsOutside ? nil : list.fault, node: UInt32(list.node), index_type: indices.scalar.innerCode,
          type: x.scalar.innerCode, reduction: ck_scatter(op.reduction.code), tuples: tuples, depth: depth,
          lengths: axes(Array(x.shape.dimensions[..<depth])), strides: axes(Array(x.shape.strides[..<depth])),
          inner: inner)
        list.addCopy(
          UnsafeMutableRawPointer(mutating: operands.inputs[0]), operands.outputs[0], x.count,
          element: x.scalar.innerByteCount)
        list.add(
          ck_scatter_nd_run, arguments, items: parts(inner, of: chunk), cost: tuples * (4 * depth + min(inner, chunk)))
      }
      kernel.updatedInput = 0
      return kernel
    }
  }
}

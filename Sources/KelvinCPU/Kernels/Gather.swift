import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addGather() {
    add(Gather.self) { (op, context) throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      if op.axis == 0, let columns = CodedColumns(of: 0, context), !columns.isBiased {
        return gather(columns, indices)
      }
      let outer = x.shape.dimensions[..<op.axis].reduce(1, *)
      let inner = x.shape.dimensions[(op.axis + 1)...].reduce(x.scalar.innerByteCount, *)
      var kernel = CPUKernel { operands, list in
        let arguments = ck_gather_args(
          x: operands.inputs[0], indices: operands.inputs[1], y: operands.outputs[0],
          fault: list.fault, node: UInt32(list.node), index_type: indices.scalar.innerCode, outer: outer,
          length: x.shape[op.axis], picked: indices.count,
          inner: inner)
        list.add(ck_gather_run, arguments, items: inner == 0 ? 0 : outer * indices.count, cost: inner / 4)
      }
      // Slices of one element are read as numbers.
      if inner > 8 { kernel.unalignedInput = 0 }
      return kernel
    }
  }
}

/// Returns a gather of rows of a weight that stay codes until they are read.
private func gather(_ columns: CodedColumns, _ indices: TensorType) -> CPUKernel {
  var kernel = CPUKernel { operands, list in
    let arguments = ck_gather_coded_args(
      x: columns.at(operands.packs[0]), indices: operands.inputs[1], y: operands.result(), fault: list.fault,
      node: UInt32(list.node), index_type: indices.scalar.innerCode)
    list.add(ck_gather_coded_run, arguments, items: indices.count, cost: columns.depth)
  }
  kernel.packs = [columns.pack()]
  return kernel
}

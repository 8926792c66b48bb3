import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addTopK() {
    add(TopK.self) { (op, context) throws(DeviceError) in
      let x = context.inputs[0]
      guard x.scalar != .float64 else { throw context.unsupported("float64 arithmetic") }
      guard op.scalar.byteCount >= 4 || x.shape[op.axis] <= 1 << (8 * op.scalar.byteCount - 1) else {
        throw context.unsupported("positions up to \(x.shape[op.axis] - 1) as \(op.scalar.rawValue)")
      }
      let (outer, length, inner) = x.shape.around(op.axis)
      let cost = Int(op.operations(context.inputs, context.outputs)) / max(1, outer * inner)
      var kernel = CPUKernel { operands, list in
        let arguments = ck_top_k_args(
          x: operands.inputs[0], values: operands.outputs[0], positions: operands.outputs[1],
          type: x.scalar.innerCode, position_type: op.scalar.innerCode, outer: outer, length: length, inner: inner,
          count: op.count, largest: op.takesLargest)
        list.add(ck_top_k_run, arguments, items: op.count == 0 ? 0 : outer * inner, cost: 4 * cost)
      }
      kernel.threadByteCount = op.count * MemoryLayout<ck_ranked>.stride
      return kernel
    }
  }
}

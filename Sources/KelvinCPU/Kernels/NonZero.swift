import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addNonZero() {
    add(NonZero.self) { (op, context) throws(DeviceError) in
      let x = context.inputs[0]
      guard x.scalar != .float64 else { throw context.unsupported("float64 arithmetic") }
      guard x.shape.rank <= ck_max_rank else { throw context.unsupported("\(x.shape.rank) dimensions") }
      let cost = Int(min(op.operations(context.inputs, context.outputs), 1e9))
      return CPUKernel { operands, list in
        let arguments = ck_non_zero_args(
          x: operands.inputs[0], places: operands.outputs[0],
          found: operands.outputs[1].assumingMemoryBound(to: Int32.self), type: x.scalar.innerCode,
          wide: op.scalar == .int64, count: x.count, rank: x.shape.rank, sizes: axes(x.shape.dimensions))
        list.add(ck_non_zero_run, arguments, items: 1, cost: cost)
      }
    }
  }
}

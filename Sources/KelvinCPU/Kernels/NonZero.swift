import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addNonZero() {
    add(NonZero.self) { (op, context) throws(DeviceError) in
      let x = context.inputs[0]
      guard x.scalar != .float64 else { throw context.unsupported("float64 arithmetic") }
      guard x.shape.rank <= ck_max_rank else { throw context.unsupported("\(x.shape.rank) dimensions") }
      var arguments = ck_non_zero_args()
      arguments.type = x.scalar.innerCode
      arguments.wide = op.scalar == .int64
      arguments.count = x.count
      arguments.rank = x.shape.rank
      fill(&arguments.sizes, with: x.shape.dimensions)
      let cost = Int(min(op.operations(context.inputs, context.outputs), 1e9))
      return CPUKernel { [arguments] operands, list in
        var arguments = arguments
        arguments.x = operands.inputs[0]
        arguments.places = operands.outputs[0]
        arguments.found = operands.outputs[1].assumingMemoryBound(to: Int32.self)
        list.add(ck_non_zero_run, arguments, items: 1, cost: cost)
      }
    }
  }
}

import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addUnique() {
    add(Unique.self) { (op, context) throws(DeviceError) in
      let x = context.inputs[0]
      guard x.scalar != .float64 else { throw context.unsupported("float64 arithmetic") }
      var arguments = ck_unique_args()
      arguments.type = x.scalar.innerCode
      arguments.outer = x.shape.dimensions[..<op.axis].reduce(1, *)
      arguments.length = x.shape[op.axis]
      arguments.inner = x.shape.dimensions[(op.axis + 1)...].reduce(1, *)
      arguments.sorted = op.isSorted
      let cost = Int(min(op.operations(context.inputs, context.outputs), 1e9))
      var kernel = CPUKernel { [arguments] operands, list in
        var arguments = arguments
        arguments.x = operands.inputs[0]
        arguments.first = operands.outputs[0].assumingMemoryBound(to: Int64.self)
        arguments.inverse = operands.outputs[1].assumingMemoryBound(to: Int64.self)
        arguments.counts = operands.outputs[2].assumingMemoryBound(to: Int64.self)
        arguments.found = operands.outputs[3].assumingMemoryBound(to: Int32.self)
        list.add(ck_unique_run, arguments, items: 1, cost: 4 * cost)
      }
      kernel.threadByteCount = 2 * x.shape[op.axis] * MemoryLayout<UInt64>.stride
      return kernel
    }
  }
}

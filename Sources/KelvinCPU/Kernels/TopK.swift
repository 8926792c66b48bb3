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
      var arguments = ck_top_k_args()
      arguments.type = x.scalar.innerCode
      arguments.position_type = op.scalar.innerCode
      arguments.outer = x.shape.dimensions[..<op.axis].reduce(1, *)
      arguments.length = x.shape[op.axis]
      arguments.inner = x.shape.dimensions[(op.axis + 1)...].reduce(1, *)
      arguments.count = op.count
      arguments.largest = op.takesLargest
      let cost = Int(op.operations(context.inputs, context.outputs)) / max(1, arguments.outer * arguments.inner)
      var kernel = CPUKernel { [arguments] operands, list in
        var arguments = arguments
        arguments.x = operands.inputs[0]
        arguments.values = operands.outputs[0]
        arguments.positions = operands.outputs[1]
        list.add(
          ck_top_k_run, arguments, items: op.count == 0 ? 0 : arguments.outer * arguments.inner, cost: 4 * cost)
      }
      kernel.threadByteCount = op.count * MemoryLayout<ck_ranked>.stride
      return kernel
    }
  }
}

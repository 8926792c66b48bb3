import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addUnique() {
    add(Unique.self) { (op, context) throws(DeviceError) in
      let x = context.inputs[0]
      guard x.scalar != .float64 else { throw context.unsupported("float64 arithmetic") }
      let (outer, length, inner) = x.shape.around(op.axis)
      let cost = Int(min(op.operations(context.inputs, context.outputs), 1e9))
      var kernel = CPUKernel { operands, list in
        let places = operands.outputs[..<3].map { $0.assumingMemoryBound(to: Int64.self) }
        let arguments = ck_unique_args(
          x: operands.inputs[0], first: places[0], inverse: places[1], counts: places[2],
          found: operands.outputs[3].assumingMemoryBound(to: Int32.self), type: x.scalar.innerCode, outer: outer,
          length: length, inner: inner, sorted: op.isSorted)
        list.add(ck_unique_run, arguments, items: 1, cost: 4 * cost)
      }
      kernel.threadByteCount = 2 * x.shape[op.axis] * MemoryLayout<UInt64>.stride
      return kernel
    }
  }
}

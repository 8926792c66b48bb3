import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addUnary() {
    add(Unary.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      let count = context.outputs[0].count
      let map = context.variant.map(op.function)
      let run = context.variant.kernels.unary
      return CPUKernel { operands, list in
        let arguments = ck_unary_args(
          x: operands.floats(0), y: operands.result(), count: count, map: map, a: op.function.a, b: op.function.b)
        list.add(
          run, arguments, items: parts(count, of: Int(ck_map_chunk)),
          cost: Int(ck_map_chunk) * Int(op.function.operations))
      }
    }
  }
}

extension CPUVariant {
  /// The kernel of an element-wise function.
  func map(_ function: UnaryFunction) -> ck_map? {
    var kernels = kernels
    return withUnsafeBytes(of: &kernels.maps) { $0.bindMemory(to: ck_map?.self)[Int(function.code)] }
  }
}

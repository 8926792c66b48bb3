import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addCompare() {
    add(Compare.self) { (op, context) throws(DeviceError) in
      let layout = try context.broadcasting(context.inputs[...])
      let run = context.variant.kernels.compare
      let scalar = context.inputs[0].scalar
      let (function, first, second) = op.function.comparison
      var kernel = CPUKernel { operands, list in
        let arguments = ck_compare_args(
          x: operands.inputs[first], y: operands.inputs[second],
          z: operands.outputs[0].assumingMemoryBound(to: UInt8.self), type: scalar.innerCode, function: function,
          rank: layout.rank, sizes: axes(layout.sizes), x_strides: axes(layout.strides[first]),
          y_strides: axes(layout.strides[second]))
        list.addStrips(run, arguments, layout.count)
      }
      kernel.strips = ElementChains.Strips(layout.count, [scalar.innerByteCount, scalar.innerByteCount, 1])
      return kernel
    }
  }
}

extension Compare.Function {
  /// The kernel's comparison, and the indices of its first and second operand.
  fileprivate var comparison: (ck_compare, Int, Int) {
    switch self {
    case .equal: (ck_compare_equal, 0, 1)
    case .notEqual: (ck_compare_not_equal, 0, 1)
    case .less: (ck_compare_less, 0, 1)
    case .lessOrEqual: (ck_compare_less_or_equal, 0, 1)
    case .greater: (ck_compare_less, 1, 0)
    case .greaterOrEqual: (ck_compare_less_or_equal, 1, 0)
    }
  }
}

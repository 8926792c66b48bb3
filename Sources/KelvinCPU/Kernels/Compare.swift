import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addCompare() {
    add(Compare.self) { (op, context) throws(DeviceError) in
      let shape = context.outputs[0].shape
      let layout = StridedLayout(
        shape.dimensions, context.inputs.map { $0.shape.strides(broadcastTo: shape) } + [shape.strides])
      guard layout.rank <= ck_max_rank else { throw context.unsupported("broadcasting over \(layout.rank) axes") }
      let run = context.variant.kernels.compare
      let type = context.inputs[0].scalar.innerCode
      let (function, first, second) = op.function.comparison
      return CPUKernel { operands, list in
        var arguments = ck_compare_args()
        arguments.x = operands.inputs[first]
        arguments.y = operands.inputs[second]
        arguments.z = operands.outputs[0].assumingMemoryBound(to: UInt8.self)
        arguments.type = type
        arguments.function = function
        arguments.rank = layout.rank
        fill(&arguments.sizes, with: layout.sizes)
        fill(&arguments.x_strides, with: layout.strides[first])
        fill(&arguments.y_strides, with: layout.strides[second])
        list.add(run, arguments, items: layout.chunkedItems, cost: min(layout.innerCount, Int(ck_map_chunk)))
      }
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

import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addBinary() {
    add(Binary.self) { (op, context) throws(DeviceError) in
      let shape = context.outputs[0].shape
      let layout = StridedLayout(
        shape.dimensions, context.inputs.map { $0.shape.strides(broadcastTo: shape) } + [shape.strides])
      guard layout.rank <= ck_max_rank else { throw context.unsupported("broadcasting over \(layout.rank) axes") }
      let cost = min(layout.innerCount, Int(ck_map_chunk)) * op.function.cost
      if try context.usesIntegers() { return integerBinary(op, context, layout, cost: cost) }
      let run = context.variant.kernels.binary
      return CPUKernel { operands, list in
        var arguments = ck_binary_args()
        arguments.x = operands.floats(0)
        arguments.y = operands.floats(1)
        arguments.z = operands.result()
        arguments.function = Int(op.code)
        arguments.rank = layout.rank
        fill(&arguments.sizes, with: layout.sizes)
        fill(&arguments.x_strides, with: layout.strides[0])
        fill(&arguments.y_strides, with: layout.strides[1])
        list.add(run, arguments, items: layout.chunkedItems, cost: cost)
      }
    }
  }
}

private func integerBinary(_ op: Binary, _ context: CPUContext, _ layout: StridedLayout, cost: Int) -> CPUKernel {
  let type = context.inputs[0].scalar.innerCode
  return CPUKernel { operands, list in
    var arguments = ck_int_binary_args()
    arguments.x = operands.inputs[0]
    arguments.y = operands.inputs[1]
    arguments.z = operands.outputs[0]
    arguments.type = type
    arguments.function = Int(op.code)
    arguments.rank = layout.rank
    fill(&arguments.sizes, with: layout.sizes)
    fill(&arguments.x_strides, with: layout.strides[0])
    fill(&arguments.y_strides, with: layout.strides[1])
    list.add(ck_int_binary_run, arguments, items: layout.chunkedItems, cost: cost)
  }
}

extension Binary.Function {
  /// Relative to an addition.
  fileprivate var cost: Int {
    switch self {
    case .power, .floorDivide, .modulo, .remainder: 20
    default: 1
    }
  }
}

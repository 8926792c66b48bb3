import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addBinary() {
    addOffers(Binary.self) { (op, context) throws(DeviceError) in
      let shape = context.outputs[0].shape
      let layout = StridedLayout(
        shape.dimensions, context.inputs.map { $0.shape.strides(broadcastTo: shape) } + [shape.strides])
      guard layout.rank <= ck_max_rank else { throw context.unsupported("broadcasting over \(layout.rank) axes") }
      if try context.usesIntegers() { return [KernelOffer(integerBinary(op, context, layout))] }
      let dense = KernelOffer(binary(op, context, layout))
      guard context.hasRows, let operands = RowOperands(context.inputs.map(\.shape), shape) else { return [dense] }
      let layouts = KernelLayouts(reads: operands.layouts, writes: [.rows])
      return [dense, KernelOffer(binary(op, context, operands.walk), "rows", layouts)]
    }
  }
}

private func binary(_ op: Binary, _ context: CPUContext, _ layout: StridedLayout) -> CPUKernel {
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
    list.add(run, arguments, items: layout.chunkedItems, cost: layout.cost(of: op))
  }
}

/// Operands of a result in rows: as large as it, one number for each channel, or one number.
private struct RowOperands {
  let layouts: [ValueLayout]
  /// Over `[N, area, C]`.
  let walk: StridedLayout

  init?(_ operands: [Shape], _ result: Shape) {
    let (channels, area) = (result[1], result.pixels)
    var layouts: [ValueLayout] = []
    var strides: [[Int]] = []
    for operand in operands {
      let padded = [Int](repeating: 1, count: result.rank - operand.rank) + operand.dimensions
      if operand == result {
        layouts.append(.rows)
        strides.append([area * channels, channels, 1])
      } else if operand.count == 1 {
        layouts.append(.dense)
        strides.append([0, 0, 0])
      } else if padded[1] == channels, padded.dropFirst(2).allSatisfy({ $0 == 1 }) {
        layouts.append(.dense)
        strides.append([padded[0] == 1 ? 0 : channels, 0, 1])
      } else {
        return nil
      }
    }
    self.layouts = layouts
    walk = StridedLayout([result[0], area, channels], strides + [[area * channels, channels, 1]])
  }
}

private func integerBinary(_ op: Binary, _ context: CPUContext, _ layout: StridedLayout) -> CPUKernel {
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
    list.add(ck_int_binary_run, arguments, items: layout.chunkedItems, cost: layout.cost(of: op))
  }
}

extension StridedLayout {
  fileprivate func cost(of op: Binary) -> Int { min(innerCount, Int(ck_map_chunk)) * op.function.cost }
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

import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addBinary() {
    addOffers(Binary.self) { (op, context) throws(DeviceError) in
      let shape = context.outputs[0].shape
      let layout = try context.broadcasting(context.inputs[...])
      if try context.usesIntegers() { return [KernelOffer(integerBinary(op, context, layout))] }
      var offers = [KernelOffer(binary(op, context, layout))]
      let shapes = context.inputs.map(\.shape)
      if let blocks = context.blocks, let operands = BlockOperands(context, blocks) {
        let layouts = KernelLayouts(reads: operands.layouts, writes: [blocks])
        offers.append(KernelOffer(binary(op, context, operands.walk, operands.packs), "blocks", layouts))
      }
      if context.hasRows, let operands = RowOperands(shapes, shape) {
        let layouts = KernelLayouts(reads: operands.layouts, writes: [.rows])
        offers.append(KernelOffer(binary(op, context, operands.walk), "rows", layouts))
      }
      return offers
    }
  }
}

/// - Parameter packs: the operands that are packed beforehand.
private func binary(
  _ op: Binary, _ context: CPUContext, _ layout: StridedLayout, _ packs: [CPUPack] = []
) -> CPUKernel {
  let run = context.variant.kernels.binary
  let packed = (0..<2).map { input in packs.firstIndex { $0.inputs == [input] } }
  var kernel = CPUKernel { operands, list in
    let arguments = ck_binary_args(
      x: packed[0].map(operands.packed) ?? operands.floats(0), y: packed[1].map(operands.packed) ?? operands.floats(1),
      z: operands.result(), function: Int(op.code), rank: layout.rank, sizes: axes(layout.sizes),
      x_strides: axes(layout.strides[0]), y_strides: axes(layout.strides[1]))
    list.addStrips(run, arguments, layout.count, cost: op.function.cost)
  }
  kernel.packs = packs
  kernel.strips = ElementChains.Strips(layout.count, [4, 4, 4])
  return kernel
}

/// The operands of a result in rows: of the result's shape, one number for each channel, or one number.
private struct RowOperands {
  let layouts: [ValueLayout]
  /// The iteration over `[N, area, C]`.
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

/// The operands of a result in blocks of channels: of the result's shape, one number for each channel, or one number.
private struct BlockOperands {
  private(set) var layouts: [ValueLayout] = []
  /// The packs of constant operands.
  private(set) var packs: [CPUPack] = []
  /// The iteration over `[N, blocks, area * lanes]`.
  let walk: StridedLayout

  init?(_ context: CPUContext, _ result: ValueLayout) {
    let shape = context.outputs[0].shape
    let lanes = context.variant.kernels.lanes
    let blocks = BlockedShape(shape, lanes: lanes)
    let span = blocks.area * lanes
    var strides: [[Int]] = []
    for (input, type) in context.inputs.enumerated() {
      let operand = Shape([Int](repeating: 1, count: shape.rank - type.shape.rank) + type.shape.dimensions)
      if operand.count == 1 {
        layouts.append(.dense)
        strides.append([0, 0, 0])
        continue
      }
      if operand == shape {
        strides.append([blocks.blocks * span, span, 1])
      } else if operand[1] == shape[1], operand.pixels == 1 {
        // In its own blocks, such an operand is a vector for each block.
        strides.append([operand[0] == 1 ? 0 : blocks.blocks * lanes, lanes, Int(ck_repeats)])
      } else {
        return nil
      }
      layouts.append(result)
      if context.isConstant(input) {
        packs.append(.blocks(of: input, operand, lanes: lanes))
      } else if type.shape.rank != shape.rank {
        return nil
      }
    }
    walk = StridedLayout(
      [blocks.batch, blocks.blocks, span], strides + [[blocks.blocks * span, span, 1]])
  }
}

private func integerBinary(_ op: Binary, _ context: CPUContext, _ layout: StridedLayout) -> CPUKernel {
  let scalar = context.inputs[0].scalar
  var kernel = CPUKernel { operands, list in
    let arguments = ck_integer_binary_args(
      x: operands.inputs[0], y: operands.inputs[1], z: operands.outputs[0], type: scalar.innerCode,
      function: Int(op.code), rank: layout.rank, sizes: axes(layout.sizes), x_strides: axes(layout.strides[0]),
      y_strides: axes(layout.strides[1]))
    list.addStrips(ck_integer_binary_run, arguments, layout.count, cost: op.function.cost)
  }
  kernel.strips = ElementChains.Strips(layout.count, [Int](repeating: scalar.byteCount, count: 3))
  return kernel
}

extension Binary.Function {
  /// The cost relative to an addition.
  fileprivate var cost: Int {
    switch self {
    case .power, .floorDivide, .modulo, .remainder: 20
    default: 1
    }
  }
}

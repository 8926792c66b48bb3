import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addConcat() {
    addOffers(Concat.self) { (op, context) throws(DeviceError) in
      let strides = context.outputs[0].shape.strides
      var position = 0
      var copies: [CPUCopy] = []
      // If each operand is one run of elements, it is placed in the result unchanged.
      let isWhole = context.outputs[0].shape.dimensions[..<op.axis].allSatisfy { $0 == 1 }
      var parts: [Int?] = []
      for input in context.inputs {
        parts.append(isWhole ? position * strides[op.axis] * input.scalar.innerByteCount : nil)
        copies.append(
          try CPUCopy(
            sizes: input.shape.dimensions, source: input.shape.strides, target: strides,
            targetOffset: position * strides[op.axis], element: input.scalar.innerByteCount, in: context))
        position += input.shape[op.axis]
      }
      let offer = KernelOffer(concat(copies, parts))
      guard let blocks = op.onBlocks(context) else { return [offer] }
      return [offer, blocks]
    }
  }
}

private func concat(_ copies: [CPUCopy], _ parts: [Int?]) -> CPUKernel {
  var kernel = CPUKernel { operands, list in
    for (index, copy) in copies.enumerated() {
      copy.record(from: operands.inputs[index], to: operands.outputs[0], list)
    }
  }
  kernel.partOffsets = parts
  return kernel
}

extension Concat {
  /// Returns the offer that joins whole blocks of channels; nil if an operand other than the last has a partial block.
  fileprivate func onBlocks(_ context: CPUContext) -> KernelOffer<CPUKernel>? {
    guard axis == 1, let layout = context.blocks else { return nil }
    let lanes = context.variant.kernels.lanes
    let result = BlockedShape(context.outputs[0].shape, lanes: lanes)
    var copies: [CPUCopy] = []
    var parts: [Int?] = []
    var block = 0
    for (index, input) in context.inputs.enumerated() {
      let blocks = BlockedShape(input.shape, lanes: lanes)
      guard index == context.inputs.count - 1 || blocks.channels % lanes == 0 else { return nil }
      let element = input.scalar.innerByteCount
      parts.append(blocks.batch == 1 ? block * blocks.area * lanes * element : nil)
      let (from, to) = (blocks.blocks * blocks.area * lanes, result.blocks * blocks.area * lanes)
      copies.append(
        CPUCopy(
          StridedLayout(
            [blocks.batch, blocks.blocks, blocks.area * lanes],
            [
              [from, blocks.area * lanes, 1], [to, blocks.area * lanes, 1],
            ]), targetOffset: block * blocks.area * lanes, element: element))
      block += blocks.blocks
    }
    let layouts = KernelLayouts(reads: context.inputs.map { _ in layout }, writes: [layout])
    return KernelOffer(concat(copies, parts), "blocks", layouts)
  }
}

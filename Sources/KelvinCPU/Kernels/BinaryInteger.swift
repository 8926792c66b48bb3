import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addBinaryInteger() {
    addOffers(BinaryInteger.self) { (op, context) throws(DeviceError) in
      let shape = context.outputs[0].shape
      let layout = try context.broadcasting(context.inputs[..<2])
      let dense = binary(op, context, layout)
      // If shapes are equal, elements have the same positions in every layout.
      guard let blocks = context.blocks, context.inputs[..<2].allSatisfy({ $0.shape == shape }) else {
        return [KernelOffer(dense)]
      }
      let flat = StridedLayout([context.blockedCount(shape)], [[1], [1], [1]])
      return [
        KernelOffer(dense),
        KernelOffer(binary(op, context, flat), "blocks", KernelLayouts(reads: [blocks, blocks], writes: [blocks])),
      ]
    }
  }
}

private func binary(_ op: BinaryInteger, _ context: CPUContext, _ layout: StridedLayout) -> CPUKernel {
  let run = context.integers.binary
  return CPUKernel { operands, list in
    let arguments = ck_quantized_binary_args(
      x: operands.bytes(0), y: operands.bytes(1), z: operands.outputs[0].assumingMemoryBound(to: UInt8.self),
      is_signed: context.outputs[0].scalar == .int8, is_product: op.function == .multiply,
      scales: (operands.floats(2), operands.floats(4), operands.floats(6)),
      zeros: (operands.bytes(3), operands.bytes(5), operands.bytes(7)), rank: layout.rank, sizes: axes(layout.sizes),
      x_strides: axes(layout.strides[0]), y_strides: axes(layout.strides[1]))
    list.add(
      run, arguments, items: layout.outerCount * parts(layout.innerCount, of: Int(ck_map_chunk)),
      cost: min(layout.innerCount, Int(ck_map_chunk)))
  }
}

import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addBinaryInteger() {
    addOffers(BinaryInteger.self) { (op, context) throws(DeviceError) in
      let shape = context.outputs[0].shape
      let layout = StridedLayout(
        shape.dimensions, context.inputs[..<2].map { $0.shape.strides(broadcastTo: shape) } + [shape.strides])
      guard layout.rank <= ck_max_rank else { throw context.unsupported("broadcasting over \(layout.rank) axes") }
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
    var arguments = ck_quantized_binary_args()
    arguments.x = operands.bytes(0)
    arguments.y = operands.bytes(1)
    arguments.z = operands.outputs[0].assumingMemoryBound(to: UInt8.self)
    arguments.is_signed = context.outputs[0].scalar == .int8
    arguments.is_product = op.function == .multiply
    arguments.scales = (operands.floats(2), operands.floats(4), operands.floats(6))
    arguments.zeros = (operands.bytes(3), operands.bytes(5), operands.bytes(7))
    arguments.rank = layout.rank
    fill(&arguments.sizes, with: layout.sizes)
    fill(&arguments.x_strides, with: layout.strides[0])
    fill(&arguments.y_strides, with: layout.strides[1])
    list.add(
      run, arguments, items: layout.outerCount * parts(layout.innerCount, of: Int(ck_map_chunk)),
      cost: min(layout.innerCount, Int(ck_map_chunk)))
  }
}

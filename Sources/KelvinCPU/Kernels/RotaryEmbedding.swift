import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addRotaryEmbedding() {
    add(RotaryEmbedding.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      let shape = context.inputs[0].shape
      let rows = Shape(Array(shape.dimensions.dropLast()))
      let angles = Shape(rows.dimensions + [op.width / 2])
      let strides = context.inputs[1...].map { Array($0.shape.strides(broadcastTo: angles).dropLast()) }
      let layout = StridedLayout(rows.dimensions, strides)
      guard layout.rank <= ck_max_rank else { throw context.unsupported("rows of \(layout.rank) axes") }
      let length = shape[shape.rank - 1]
      let run = context.variant.kernels.rotary_embedding
      return CPUKernel { operands, list in
        let arguments = ck_rotary_embedding_args(
          x: operands.floats(0), cosines: operands.floats(1), sines: operands.floats(2), y: operands.result(),
          rank: layout.rank, sizes: axes(layout.sizes), cosine_strides: axes(layout.strides[0]),
          sine_strides: axes(layout.strides[1]), length: length, width: op.width, interleaved: op.isInterleaved)
        list.add(
          run, arguments, items: layout.innerCount == 0 ? 0 : layout.outerCount, cost: layout.innerCount * length)
      }
    }
  }
}

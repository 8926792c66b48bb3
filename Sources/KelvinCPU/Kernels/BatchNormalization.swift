import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addBatchNormalization() {
    addOffers(BatchNormalization.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      for input in 1...4 { try context.requireConstant(input, "statistics") }
      let dense = KernelOffer(op.kernel(context, lanes: nil))
      guard let blocks = context.blocks else { return [dense] }
      let kernel = op.kernel(context, lanes: context.variant.kernels.lanes)
      return [dense, KernelOffer(kernel, "blocks", KernelLayouts(reads: [blocks], writes: [blocks]))]
    }
  }
}

extension BatchNormalization {
  /// - Parameter lanes: channels of a block; nil for dense tensors.
  fileprivate func kernel(_ context: CPUContext, lanes: Int?) -> CPUKernel {
    let shape = BlockedShape(context.inputs[0].shape, lanes: lanes ?? 1)
    // The channels include the padding of the last block.
    let channels = shape.blocks * shape.lanes
    let (planes, inner) = (shape.batch * shape.blocks, shape.area * shape.lanes)
    let run = context.variant.kernels.batch_normalization
    var kernel = CPUKernel { operands, list in
      let packed = operands.packed(0)
      let arguments = ck_batch_normalization_args(
        x: operands.floats(0), y: operands.result(), mean: packed, scale: packed + channels,
        shift: packed + 2 * channels, planes: planes, channels: shape.blocks, inner: inner, is_blocked: lanes != nil)
      list.addStrips(run, arguments, planes * inner)
    }
    kernel.strips = ElementChains.Strips(planes * inner, [4, 4])
    // Mean, scale / sqrt(variance + epsilon), shift. Subtracting the mean first avoids cancellation with large means.
    kernel.packs = [
      CPUPack(
        inputs: [1, 2, 3, 4], layout: "batch-normalization-f32-\(epsilon)" + (lanes.map { "-blocks-\($0)" } ?? ""),
        byteCount: 12 * channels
      ) { [epsilon] target, weights in
        let target = target.bindMemory(to: Float.self)
        target.update(repeating: 0)
        for channel in 0..<shape.channels {
          target[channel] = weights[2][channel]
          let deviation = (Double(weights[3][channel]) + Double(epsilon)).squareRoot()
          target[channels + channel] = Float(Double(weights[0][channel]) / deviation)
          target[2 * channels + channel] = weights[1][channel]
        }
      }
    ]
    return kernel
  }
}

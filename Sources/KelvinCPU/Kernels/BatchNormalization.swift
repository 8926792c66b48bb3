import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addBatchNormalization() {
    add(BatchNormalization.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      for input in 1...4 { try context.requireConstant(input, "statistics") }
      let shape = context.inputs[0].shape
      let channels = shape[1]
      let inner = shape.dimensions.dropFirst(2).reduce(1, *)
      let run = context.variant.kernels.batch_normalization
      var kernel = CPUKernel { operands, list in
        let packed = operands.packed(0)
        let arguments = ck_batch_normalization_args(
          x: operands.floats(0), y: operands.result(), mean: packed, scale: packed + channels,
          shift: packed + 2 * channels, channels: channels, inner: inner)
        list.add(run, arguments, items: inner == 0 ? 0 : shape[0] * channels, cost: inner)
      }
      // Mean, scale / sqrt(variance + epsilon), shift: subtracting the mean first keeps large means from cancelling.
      kernel.packs = [
        CPUPack(
          inputs: [1, 2, 3, 4], layout: "batch-normalization-f32-\(op.epsilon)", byteCount: 12 * channels
        ) { target, weights in
          let target = target.bindMemory(to: Float.self)
          for channel in 0..<channels {
            target[channel] = weights[2][channel]
            let deviation = (Double(weights[3][channel]) + Double(op.epsilon)).squareRoot()
            target[channels + channel] = Float(Double(weights[0][channel]) / deviation)
            target[2 * channels + channel] = weights[1][channel]
          }
        }
      ]
      return kernel
    }
  }
}

import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addLayerNormalization() {
    add(LayerNormalization.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      let length = op.length(context.inputs)
      let rows = context.inputs[0].shape.dimensions[..<op.axis].reduce(1, *)
      let inputs = context.inputs.count
      let run = context.variant.kernels.layer_normalization
      return CPUKernel { operands, list in
        let arguments = ck_layer_normalization_args(
          x: operands.floats(0), y: operands.result(), scale: inputs > 1 ? operands.floats(1) : nil,
          shift: inputs > 2 ? operands.floats(2) : nil, length: length, epsilon: op.epsilon,
          centered: op.isCentered)
        list.add(run, arguments, items: length == 0 ? 0 : rows, cost: 2 * length)
      }
    }
  }
}

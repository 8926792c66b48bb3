import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addCast() {
    add(Cast.self) { (op, context) throws(DeviceError) in
      let (from, to) = (context.inputs[0].scalar.innerCode, op.scalar.innerCode)
      if from == to { return CPUKernel.view() }
      let (run, count) = (context.variant.kernels.cast, context.outputs[0].count)
      var kernel = CPUKernel { operands, list in
        let arguments = ck_cast_args(
          x: operands.inputs[0], y: operands.outputs[0], from: from, to: to, count: count)
        list.addStrips(run, arguments, count)
      }
      kernel.strips = ElementChains.Strips(count, [context.inputs[0].scalar.innerByteCount, op.scalar.innerByteCount])
      return kernel
    }
  }
}

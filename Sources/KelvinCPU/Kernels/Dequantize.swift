import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addDequantize() {
    addOffers(Dequantize.self) { (op, context) throws(DeviceError) in
      try context.quantization(op.axis, integers: context.inputs[0].scalar, context.integers.dequantize)
    }
  }
}

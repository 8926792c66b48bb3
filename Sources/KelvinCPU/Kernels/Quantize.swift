import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addQuantize() {
    addOffers(Quantize.self) { (op, context) throws(DeviceError) in
      try context.quantization(op.axis, integers: op.scalar, context.integers.quantize)
    }
  }
}

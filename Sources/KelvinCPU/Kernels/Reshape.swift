import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addReshape() {
    add(Reshape.self) { (_, _) throws(DeviceError) in CPUKernel.view() }
  }
}

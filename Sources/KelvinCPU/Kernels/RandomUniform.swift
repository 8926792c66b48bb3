import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addRandomUniform() {
    add(RandomUniform.self) { (op, context) throws(DeviceError) in
      let count = context.outputs[0].count
      return CPUKernel { operands, list in
        let arguments = ck_random_uniform_args(
          key: operands.inputs[0]?.assumingMemoryBound(to: UInt32.self), y: operands.result(), count: count,
          stream: UInt32(op.stream))
        list.add(ck_random_uniform_run, arguments, items: parts(count, of: 4), cost: 80)
      }
    }
  }
}

import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addRandomUniform() {
    add(RandomUniform.self) { (op, context) throws(DeviceError) in
      var arguments = ck_random_uniform_args()
      arguments.count = context.outputs[0].count
      arguments.stream = UInt32(op.stream)
      return CPUKernel { [arguments] operands, list in
        var arguments = arguments
        arguments.key = operands.inputs[0]?.assumingMemoryBound(to: UInt32.self)
        arguments.y = operands.result()
        list.add(ck_random_uniform_run, arguments, items: parts(arguments.count, of: 4), cost: 80)
      }
    }
  }
}

import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addSelect() {
    add(Select.self) { (_, context) throws(DeviceError) in
      let layout = try context.broadcasting(context.inputs[...])
      let run = context.variant.kernels.select
      let element = context.outputs[0].scalar.innerByteCount
      var kernel = CPUKernel { operands, list in
        let arguments = ck_select_args(
          condition: operands.inputs[0]?.assumingMemoryBound(to: UInt8.self), x: operands.inputs[1],
          y: operands.inputs[2], z: operands.outputs[0], element: element, rank: layout.rank,
          sizes: axes(layout.sizes), condition_strides: axes(layout.strides[0]), x_strides: axes(layout.strides[1]),
          y_strides: axes(layout.strides[2]))
        list.addStrips(run, arguments, layout.count)
      }
      kernel.strips = ElementChains.Strips(layout.count, [1, element, element, element])
      return kernel
    }
  }
}

import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addSelect() {
    add(Select.self) { (_, context) throws(DeviceError) in
      let layout = try context.broadcasting(context.inputs[...])
      let run = context.variant.kernels.select
      let element = context.outputs[0].scalar.innerByteCount
      return CPUKernel { operands, list in
        let arguments = ck_select_args(
          condition: operands.inputs[0]?.assumingMemoryBound(to: UInt8.self), x: operands.inputs[1],
          y: operands.inputs[2], z: operands.outputs[0], element: element, rank: layout.rank,
          sizes: axes(layout.sizes), condition_strides: axes(layout.strides[0]), x_strides: axes(layout.strides[1]),
          y_strides: axes(layout.strides[2]))
        list.add(run, arguments, items: layout.chunkedItems, cost: min(layout.innerCount, Int(ck_map_chunk)))
      }
    }
  }
}

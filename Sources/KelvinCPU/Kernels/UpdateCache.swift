import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addUpdateCache() {
    add(UpdateCache.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic(besides: 4)
      let caches = [context.inputs[0].shape, context.inputs[1].shape]
      let isWide = context.inputs[4].scalar == .int64
      return CPUKernel { operands, list in
        for (place, view) in [op.key, op.value].enumerated() {
          let width = place == 0 ? op.width : op.valueWidth
          list.addCopy(
            UnsafeMutableRawPointer(mutating: operands.inputs[place]), operands.outputs[place], caches[place].count,
            element: MemoryLayout<Float>.size)
          var arguments = ck_update_cache_args()
          arguments.rows = operands.floats(2 + place)?.advanced(by: view[0])
          arguments.cache = operands.result(place)
          arguments.lengths = operands.inputs[4]
          arguments.are_wide = isWide
          (arguments.heads, arguments.count) = (op.heads, op.rows)
          (arguments.length, arguments.width) = (caches[place][2], width)
          fill(&arguments.strides, with: Array(view[1...]))
          arguments.first = Int64(op.firstRow)
          list.add(ck_update_cache_run, arguments, items: op.batch * op.heads * op.rows, cost: width)
        }
      }
    }
  }
}

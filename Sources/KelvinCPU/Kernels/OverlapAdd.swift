import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addOverlapAdd() {
    add(OverlapAdd.self) { (op, context) throws(DeviceError) in
      _ = try context.usesIntegers()
      let (x, y) = (context.inputs[0], context.outputs[0])
      let planes = y.shape[0] * y.shape[1]
      return CPUKernel { operands, list in
        var arguments = ck_overlap_add_args()
        arguments.x = operands.inputs[0]
        arguments.y = operands.outputs[0]
        arguments.type = x.scalar.innerCode
        arguments.image = three(op.image, 1)
        arguments.block = three(op.block, 1)
        arguments.counts = three(op.counts, 1)
        arguments.strides = three(op.strides, 1)
        arguments.dilations = three(op.dilations, 1)
        arguments.before = three(op.before, 0)
        list.add(ck_overlap_add_run, arguments, items: planes, cost: x.count / max(1, planes))
      }
    }
  }
}

/// Returns the numbers of up to three axes, with a number for the axes in front that are missing.
private func three(_ numbers: [Int], _ missing: Int) -> (Int, Int, Int) {
  let all = [Int](repeating: missing, count: 3 - numbers.count) + numbers
  return (all[0], all[1], all[2])
}

import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addNonMaximumSuppression() {
    add(NonMaximumSuppression.self) { (op, context) throws(DeviceError) in
      try context.requireArithmetic()
      let scores = context.inputs[1].shape
      guard scores[1] <= Int(Int32.max) else { throw context.unsupported("\(scores[1]) boxes") }
      let cost = Int(min(op.operations(context.inputs, context.outputs), 1e9)) / max(1, scores[0])
      var kernel = CPUKernel { operands, list in
        let arguments = ck_suppression_args(
          boxes: operands.floats(0), scores: operands.floats(1), overlap: operands.floats(2),
          lowest: operands.floats(3), picked_boxes: operands.result(0), picked_scores: operands.result(1),
          picked: operands.outputs[2].assumingMemoryBound(to: Int32.self),
          counts: operands.outputs[3].assumingMemoryBound(to: Int32.self), candidates: scores[1], classes: scores[2],
          maximum: op.maximumBoxes, per_class: op.isPerClass)
        list.add(ck_suppression_run, arguments, items: scores[0], cost: cost)
      }
      kernel.threadByteCount = scores[1] * (MemoryLayout<ck_ranked>.stride + MemoryLayout<UInt32>.stride)
      return kernel
    }
  }
}

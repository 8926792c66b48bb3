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
        var arguments = ck_suppression_args()
        arguments.boxes = operands.floats(0)
        arguments.scores = operands.floats(1)
        arguments.overlap = operands.floats(2)
        arguments.lowest = operands.floats(3)
        arguments.picked_boxes = operands.result(0)
        arguments.picked_scores = operands.result(1)
        arguments.picked = operands.outputs[2].assumingMemoryBound(to: Int32.self)
        arguments.counts = operands.outputs[3].assumingMemoryBound(to: Int32.self)
        arguments.candidates = scores[1]
        arguments.classes = scores[2]
        arguments.maximum = op.maximumBoxes
        arguments.per_class = op.isPerClass
        list.add(ck_suppression_run, arguments, items: scores[0], cost: cost)
      }
      kernel.threadByteCount = scores[1] * (MemoryLayout<ck_ranked>.stride + MemoryLayout<UInt32>.stride)
      return kernel
    }
  }
}

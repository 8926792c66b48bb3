import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addConcat() {
    add(Concat.self) { op, context throws(DeviceError) in
      let words = try context.element(context.outputs[0]).words
      let output = context.outputs[0].shape
      var start = 0
      var copies: [StridedCopy] = []
      for input in context.inputs {
        let outer = input.shape.dimensions[..<op.axis].reduce(1, *)
        let inner = input.shape.dimensions[op.axis...].reduce(1, *)
        let row = output.dimensions[op.axis...].reduce(1, *)
        copies.append(
          StridedCopy(
            sizes: [outer, inner], source: [inner, 1], target: [row, 1],
            to: start * output.dimensions[(op.axis + 1)...].reduce(1, *)
          ).of(words: words))
        start += input.shape[op.axis]
      }
      let node = context.node
      return Kernel { builder throws(DeviceError) in
        let y = try builder.write(node.outputs[0], .dense)
        for (copy, input) in zip(copies, node.inputs) { copy.build(builder, try builder.read(input, .dense), to: y) }
      }
    }
  }
}

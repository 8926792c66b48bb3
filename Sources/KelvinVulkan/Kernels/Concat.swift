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
      let blocked = blockedCopies(op, context)
      return Kernel { builder throws(DeviceError) in
        let isBlocked = blocked != nil && node.inputs.allSatisfy { !builder.has($0, .dense) }
        let layout: Layout = isBlocked ? .blocked : .dense
        let y = try builder.write(node.outputs[0], layout)
        for (copy, input) in zip(isBlocked ? blocked ?? [] : copies, node.inputs) {
          copy.build(builder, try builder.read(input, layout), to: y)
        }
      }
    }
  }
}

/// The copies that join channels in blocks, or nil where blocks would be torn.
private func blockedCopies(_ op: Concat, _ context: KernelContext) -> [StridedCopy]? {
  guard op.axis == 1, context.outputs[0].scalar.isFloatingPoint,
    context.inputs.dropLast().allSatisfy({ $0.shape[1] % 4 == 0 })
  else { return nil }
  let output = BlockedShape(context.outputs[0].shape)
  var start = 0
  return context.inputs.map { input in
    let length = BlockedShape(input.shape).blocks * output.area * 4
    defer { start += length }
    return StridedCopy(
      sizes: [output.batch, length], source: [length, 1], target: [output.blocks * output.area * 4, 1], to: start)
  }
}

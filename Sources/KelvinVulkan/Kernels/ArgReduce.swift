import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addArgReduce() {
    add(ArgReduce.self) { op, context throws(DeviceError) in
      let (from, to) = (try context.element(context.inputs[0]), try context.element(context.outputs[0]))
      let lines = Lines(context.inputs[0].shape, axis: op.axis)
      guard to.bits >= 32 || lines.length <= 1 << (to.bits - 1) else {
        throw context.unsupported("positions up to \(lines.length - 1) as \(op.scalar.rawValue)")
      }
      let node = context.node
      return Kernel { builder throws(DeviceError) in
        try lines.build(
          builder, node, "arg_reduce",
          constants: [from.kind.rawValue, op.function == .minimum ? 1 : 0, op.takesLast ? 1 : 0, to.isPair ? 1 : 0])
      }
    }
  }
}

/// The lines of a dense tensor along one axis.
struct Lines: Sendable {
  let count: Int
  let length: Int
  let inner: Int

  init(_ shape: Shape, axis: Int) {
    length = shape[axis]
    inner = shape.dimensions[(axis + 1)...].reduce(1, *)
    count = shape.dimensions[..<axis].reduce(1, *) * inner
  }

  /// One invocation for each line, on words.
  func build(
    _ builder: SegmentBuilder, _ node: Node, _ shader: String, constants: [Int]
  ) throws(DeviceError) {
    var parameters = Parameters()
    parameters.add(count, length, inner)
    parameters.addInverses(inner)
    builder.dispatchFlat(
      shader, constants: constants, parameters, count: length == 0 ? 0 : count,
      reads: [try builder.elements(node.inputs[0])], write: try builder.write(node.outputs[0], .dense))
  }
}

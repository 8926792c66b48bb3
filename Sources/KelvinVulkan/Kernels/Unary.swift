import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addUnary() {
    add(Unary.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      try context.require(op.function)
      let node = context.node
      return Kernel { builder throws(DeviceError) in
        try builder.apply(
          code: Int(op.function.code), a: op.function.a, b: op.function.b, to: node.inputs[0], giving: node.outputs[0])
      }
    }
  }
}

extension SegmentBuilder {
  /// One function of every element, in the layout the value already has. Channels that pad a last block would get
  /// `f(0)`, so such values go through the dense layout.
  func apply(code: Int, a: Float, b: Float, to input: ValueID, giving output: ValueID) throws(DeviceError) {
    let type = type(input)
    let shape = BlockedShape(type.shape)
    let isBlocked = !has(input, .dense) && shape.channels % 4 == 0
    let x = try read(input, isBlocked ? .blocked : .dense)
    let count = isBlocked ? shape.count : (type.count + 3) / 4
    var parameters = Parameters()
    parameters.add(count)
    parameters.add(a, b)
    dispatchFlat(
      "unary", constants: [code], parameters, count: count, reads: [Operand(region: x, format: .float4)],
      write: try write(output, isBlocked ? .blocked : .dense))
  }

  /// Gives the elements of a value another name, and perhaps shape.
  func rename(_ input: ValueID, to output: ValueID) throws(DeviceError) {
    let (from, to) = (type(input).shape, type(output).shape)
    if !has(input, .dense), from.rank >= 2, to.rank >= 2, BlockedShape(from) == BlockedShape(to) {
      return alias(output, to: try read(input, .blocked), .blocked)
    }
    alias(output, to: try read(input, .dense), .dense)
  }
}

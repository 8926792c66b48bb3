import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addUnary() {
    add(Unary.self) { op, context throws(DeviceError) in
      let node = context.node
      let element = try context.element(context.inputs[0])
      if element.kind != .float {
        guard op.function.kind.keepsIntegers else {
          throw context.unsupported("\(op.function.kind.rawValue) of \(context.inputs[0].scalar.rawValue) values")
        }
        return Kernel { builder throws(DeviceError) in try builder.apply(op.function, element, node) }
      }
      return Kernel { builder throws(DeviceError) in
        try builder.apply(
          code: Int(op.function.code), a: op.function.a, b: op.function.b, to: node.inputs[0], giving: node.outputs[0])
      }
    }
  }
}

extension SegmentBuilder {
  /// One function of every integer.
  fileprivate func apply(_ function: UnaryFunction, _ element: Element, _ node: Node) throws(DeviceError) {
    let count = type(node.outputs[0]).count
    var parameters = Parameters()
    parameters.add(count)
    for bound in [function.a, function.b] {
      let value = UInt64(bitPattern: Int64(Int(saturating: Double(bound))))
      parameters.add(words: UInt32(truncatingIfNeeded: value), UInt32(truncatingIfNeeded: value >> 32))
    }
    dispatchFlat(
      "integer_unary", constants: [Int(function.code), element.kind.rawValue, element.bits], parameters, count: count,
      reads: [try elements(node.inputs[0])], write: try write(node.outputs[0], .dense))
  }

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

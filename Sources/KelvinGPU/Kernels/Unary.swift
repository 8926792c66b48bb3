internal import KelvinDevices
internal import KelvinGraph

extension KernelTable {
  mutating func addUnary<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Unary.self) { op, context throws(DeviceError) in
      let scalar = context.inputs[0].scalar
      guard scalar.isFloatingPoint else {
        guard op.function.kind.keepsIntegers else {
          throw context.unsupported("\(op.function.kind.rawValue) of \(scalar.rawValue) values")
        }
        return context.dense(context.target.integerUnary(op.function, of: scalar, count: context.outputs[0].count))
      }
      let node = context.node
      return NodeLowering { lowering throws(DeviceError) in
        let (x, y) = (node.inputs[0], node.outputs[0])
        let shape = lowering.blocked(x)
        // Lanes beyond the channels would become f of whatever they hold.
        let keepsBlocks = shape.channels % shape.lanes == 0 || !lowering.target.clearsLanes
        let layout = keepsBlocks ? lowering.layout(of: x, giving: y) : .dense
        let count = layout == .blocked ? shape.count : lowering.type(y).count
        lowering.run(
          lowering.target.unary(op.function, count: count), [try lowering.read(x, layout)], lowering.write(y, layout))
      }
    }
  }
}

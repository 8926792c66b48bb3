internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addUnary() {
    add(Unary.self) { op, context throws(DeviceError) in
      try context.checkFloats()
      try context.check(op.function)
      return Emitter { lowering throws(DeviceError) in
        let (x, y) = (lowering.node.inputs[0], lowering.node.outputs[0])
        let layout: Layout = lowering.isBlocked(x) && !lowering.isOnlyOutput(y) ? .blocked : .dense
        let source = try lowering.place(x, layout)
        let target = lowering.make(y, layout)
        let shape = lowering.type(y).shape
        lowering.unary(
          op.function, source, target, count: layout == .dense ? shape.count : lowering.blockedCount(shape))
      }
    }
  }
}

extension Lowering {
  /// `target = function(source)`; they may be the same.
  mutating func unary(_ function: UnaryFunction, _ source: Int, _ target: Int, count: Int) {
    let run = max(tuning.run / tuning.lanes, 1)
    let perItem = run * tuning.lanes
    self.run(
      KernelName(program: "unary", function: "unary"), [source, target],
      [.int(count), .int(run), .int(Int(function.code)), .float(function.a), .float(function.b)],
      global: [(count + perItem - 1) / perItem])
  }
}

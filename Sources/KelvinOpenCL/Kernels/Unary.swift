internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addUnary() {
    add(Unary.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      let scalar = context.inputs[0].scalar
      guard scalar.isFloatingPoint else {
        guard op.function.kind.keepsIntegers else {
          throw context.unsupported("\(op.function.kind.rawValue) of \(scalar.rawValue) values")
        }
        return Emitter { lowering throws(DeviceError) in
          let source = try lowering.place(lowering.node.inputs[0], .dense)
          lowering.integerUnary(op.function, scalar, source, lowering.make(lowering.node.outputs[0], .dense))
        }
      }
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
  fileprivate mutating func integerUnary(
    _ function: UnaryFunction, _ scalar: ScalarType, _ source: Int, _ target: Int
  ) {
    let count = type(node.outputs[0]).count
    let bounds = [function.a, function.b].flatMap { bound in
      let bits = Int(saturating: Double(bound))
      return [Constant.int(bits), .int(bits >> 32)]
    }
    run(
      KernelName(program: "integer", defines: scalar.wideDefines, function: "integer_unary"), [source, target],
      [.int(count), .int(tuning.run), .int(Int(function.code))] + bounds,
      global: [(count + tuning.run - 1) / tuning.run])
  }

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

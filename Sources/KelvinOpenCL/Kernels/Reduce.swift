internal import KelvinDevices
internal import KelvinGraph

extension Kernels {
  mutating func addReduce() {
    add(Reduce.self) { op, context throws(DeviceError) in
      try context.checkSizes()
      let scalar = context.inputs[0].scalar
      guard scalar.isFloatingPoint || op.function.keepsIntegers else {
        throw context.unsupported("\(op.function.rawValue) of \(scalar.rawValue) values")
      }
      let shape = context.inputs[0].shape
      let kept = (0..<shape.rank).filter { !op.axes.contains($0) }
      let order = kept + op.axes
      let moved = StridedCopy(
        sizes: order.map { shape[$0] }, source: order.map { shape.strides[$0] },
        target: Shape(order.map { shape[$0] }).strides)
      guard moved.axes.count <= StridedCopy.maximumRank else {
        throw context.unsupported("reducing over more than \(StridedCopy.maximumRank) axes")
      }
      let length = op.length(context.inputs)
      let areNeighbours = zip(op.axes, op.axes.dropFirst()).allSatisfy { $1 == $0 + 1 }
      return Emitter { lowering throws(DeviceError) in
        let (x, y) = (lowering.node.inputs[0], lowering.node.outputs[0])
        if shape.rank > 2, op.axes == Array(2..<shape.rank), lowering.isBlocked(x) {
          let source = try lowering.place(x, .blocked)
          let target = lowering.make(y, .blocked)
          lowering.reduce(
            op, source, target, outer: shape[0] * lowering.tuning.blocks(shape[1]), length: length,
            inner: lowering.tuning.lanes)
        } else if areNeighbours, let first = op.axes.first, let last = op.axes.last {
          let source = try lowering.place(x, .dense)
          let target = lowering.make(y, .dense)
          lowering.reduce(
            op, source, target, outer: shape.dimensions[..<first].reduce(1, *), length: length,
            inner: shape.dimensions[(last + 1)...].reduce(1, *))
        } else {
          let source = try lowering.place(x, .dense)
          let byteCount = lowering.internalByteCount(scalar)
          let rows = lowering.scratch(elements: (shape.count * byteCount + 3) / 4)
          lowering.copy(moved, from: source, to: rows, elementByteCount: byteCount)
          let target = lowering.make(y, .dense)
          lowering.reduce(op, rows, target, outer: kept.reduce(1) { $0 * shape[$1] }, length: length, inner: 1)
        }
      }
    }
  }
}

extension Reduce.Function {
  /// Whether it combines integers to an integer, as `integer.cl` does.
  fileprivate var keepsIntegers: Bool {
    switch self {
    case .sum, .mean, .maximum, .minimum, .product, .l1, .sumOfSquares: true
    case .l2, .logSum, .logSumExp: false
    }
  }
}

extension Lowering {
  fileprivate mutating func reduce(
    _ op: Reduce, _ source: Int, _ target: Int, outer: Int, length: Int, inner: Int
  ) {
    let scalar = type(node.inputs[0]).scalar
    guard scalar.isFloatingPoint else {
      let step = min(tuning.run, max(inner, 1))
      run(
        KernelName(program: "integer", defines: scalar.wideDefines, function: "integer_reduce"), [source, target],
        [.int(outer), .int(length), .int(inner), .int(step), .int(Int(op.code))],
        global: [(inner + step - 1) / step, outer])
      return
    }
    run(
      KernelName(program: "reduce", function: inner == 1 ? "reduce_rows" : "reduce_columns"), [source, target],
      [.int(outer), .int(length), .int(inner), .int(Int(op.code))],
      global: [inner == 1 ? outer : outer * ((inner + tuning.lanes - 1) / tuning.lanes)])
  }
}

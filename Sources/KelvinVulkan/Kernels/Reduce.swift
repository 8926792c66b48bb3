import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addReduce() {
    add(Reduce.self) { op, context throws(DeviceError) in
      let element = try context.element(context.inputs[0])
      let isFloat = element.kind == .float
      guard isFloat || op.function.keepsIntegers else {
        throw context.unsupported("\(op.function.rawValue) of \(context.inputs[0].scalar.rawValue) values")
      }
      let node = context.node
      let shape = context.inputs[0].shape
      if isFloat, op.function == .mean, shape.rank > 2, op.axes == Array(2..<shape.rank), shape.count > 0 {
        let pool = BlockedPool(meanOf: BlockedShape(shape))
        return Kernel { builder throws(DeviceError) in try pool.build(builder, node) }
      }
      let kept = MergedAxes(shape) { !op.axes.contains($0) }
      let reduced = MergedAxes(shape) { op.axes.contains($0) }
      guard max(kept.sizes.count, reduced.sizes.count) <= MergedAxes.limit else {
        throw context.unsupported("more than \(MergedAxes.limit) separate axes kept or reduced")
      }
      let count = context.outputs[0].count
      var parameters = Parameters()
      parameters.add(count, op.length(context.inputs))
      kept.add(to: &parameters)
      reduced.add(to: &parameters)
      let finished = parameters
      return Kernel { builder throws(DeviceError) in
        let x = try builder.read(node.inputs[0], .dense)
        builder.dispatchFlat(
          isFloat ? "reduce" : "integer_reduce",
          constants: [Int(op.code)] + (isFloat ? [] : [element.kind.rawValue, element.bits]), finished, count: count,
          reads: [Operand(region: x, format: isFloat ? .float : element.format)],
          write: try builder.write(node.outputs[0], .dense))
      }
    }
  }
}

extension Reduce.Function {
  /// Whether it combines integers to an integer, as `integer_reduce.comp` does.
  fileprivate var keepsIntegers: Bool {
    switch self {
    case .sum, .mean, .maximum, .minimum, .product, .l1, .sumOfSquares: true
    case .l2, .logSum, .logSumExp: false
    }
  }
}

/// Some axes of a dense tensor, neighbours merged, innermost first.
private struct MergedAxes {
  static let limit = 4
  private(set) var sizes: [Int] = []
  private var strides: [Int] = []

  init(_ shape: Shape, _ isIncluded: (Int) -> Bool) {
    let all = shape.strides
    for axis in shape.dimensions.indices.reversed() where isIncluded(axis) && shape[axis] != 1 {
      if let last = sizes.indices.last, all[axis] == strides[last] * sizes[last] {
        sizes[last] *= shape[axis]
      } else {
        sizes.append(shape[axis])
        strides.append(all[axis])
      }
    }
  }

  func add(to parameters: inout Parameters) {
    let rest = [Int](repeating: 0, count: Self.limit - sizes.count)
    parameters.add(sizes + rest.map { _ in 1 })
    parameters.add(strides + rest)
  }
}

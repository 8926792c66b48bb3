import KelvinDevices
import KelvinGraph

extension KernelTable<KernelContext, Kernel> {
  mutating func addReduce() {
    add(Reduce.self) { op, context throws(DeviceError) in
      try context.requireFloats()
      let node = context.node
      let shape = context.inputs[0].shape
      if op.function == .mean, shape.rank > 2, op.axes == Array(2..<shape.rank), shape.count > 0 {
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
          "reduce", constants: [Int(op.code)], finished, count: count, reads: [Operand(region: x, format: .float)],
          write: try builder.write(node.outputs[0], .dense))
      }
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

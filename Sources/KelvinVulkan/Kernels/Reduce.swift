import KelvinDevices
import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func offers(_ op: Reduce, _ context: KernelContext<Self>) throws(DeviceError) -> [GPUOffer<Self>] {
    let shape = context.inputs[0].shape
    if op.function == .mean, shape.rank > 2, op.axes == Array(2..<shape.rank), shape.count > 0 {
      let blocked = BlockedShape(shape, lanes: lanes)
      return [
        context.blocked(pool(.average, SpatialWindow(over: blocked.area), planes: blocked.batch * blocked.blocks))
      ]
    }
    let kept = MergedAxes(shape) { !op.axes.contains($0) }
    let reduced = MergedAxes(shape) { op.axes.contains($0) }
    guard max(kept.sizes.count, reduced.sizes.count) <= MergedAxes.limit else {
      throw context.unsupported("more than \(MergedAxes.limit) separate axes kept or reduced")
    }
    let count = context.outputs[0].count
    let call = flat(
      "reduce", [.float], specializationConstants: [Int(op.code)],
      Parameters([count, op.length(context.inputs)] + kept.parameters + reduced.parameters), count: count)
    return [KernelOffer(context.dense(call))]
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

  /// The sizes, then the strides, each filled up to the limit.
  var parameters: [Int] {
    let rest = [Int](repeating: 0, count: Self.limit - sizes.count)
    return sizes + rest.map { _ in 1 } + strides + rest
  }
}

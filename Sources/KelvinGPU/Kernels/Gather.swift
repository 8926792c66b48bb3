internal import KelvinDevices
package import KelvinGraph

/// `y[o, j, i] = x[o, indices[j], i]` of a dense tensor `[outer, extent, inner]`.
package struct GatherPlan: Sendable {
  package let outer: Int
  package let extent: Int
  package let inner: Int
  package let count: Int
  package let scalar: ScalarType
  package let index: ScalarType
}

extension KernelTable {
  mutating func addGather<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Gather.self) { op, context throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      let lines = Lines(x.shape, axis: op.axis)
      let plan = GatherPlan(
        outer: lines.outer, extent: lines.length, inner: lines.inner, count: indices.count, scalar: x.scalar,
        index: indices.scalar)
      return context.dense(context.target.gather(plan))
    }
  }
}

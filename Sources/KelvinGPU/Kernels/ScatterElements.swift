internal import KelvinDevices
package import KelvinGraph

/// `y[…, indices[…, i, …], …]` combined with `updates[…, i, …]`, for dense y, which is x at first. Rows along the axis
/// share no element, so one invocation processes a row alone and in order.
package struct ScatterElementsPlan: Sendable {
  /// The iteration over the rows; the strides are those of the indices, then y's.
  package let lines: StridedIteration
  /// The number of updates of a row, and their stride.
  package let length: Int
  package let step: Int
  /// The axis's size and stride in y.
  package let extent: Int
  package let targetStep: Int
  package let reduction: ScatterReduction
  package let scalar: ScalarType
  package let index: ScalarType
}

extension KernelTable {
  mutating func addScatterElements<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(ScatterElements.self) { op, context throws(DeviceError) in
      let (x, indices) = (context.inputs[0], context.inputs[1])
      var lines = indices.shape
      lines[op.axis] = 1
      let plan = ScatterElementsPlan(
        lines: StridedIteration(lines, strides: [indices.shape.strides, x.shape.strides]),
        length: indices.shape[op.axis],
        step: indices.shape.strides[op.axis], extent: x.shape[op.axis], targetStep: x.shape.strides[op.axis],
        reduction: op.reduction, scalar: x.scalar, index: indices.scalar)
      try plan.lines.check(context)
      return context.scattering(context.target.scatterElements(plan))
    }
  }
}

extension KernelContext {
  /// Returns a lowering to a copy of x and, if there are updates, one kernel that reads indices and updates and changes
  /// the copy.
  func scattering(_ call: KernelDispatch<Target.Program>) -> NodeLowering<Target> {
    let (node, x, updates) = (node, inputs[0], inputs[2])
    return NodeLowering { lowering throws(DeviceError) in
      let source = try lowering.read(node.inputs[0], .dense)
      let y = lowering.write(node.outputs[0], .dense)
      guard updates.count > 0 else {
        lowering.copy(StridedCopy(contiguous: x.count), of: x.scalar, from: source, to: y)
        return
      }
      // Updates that are added are rounded once.
      let result = y.isHalf ? lowering.temporary(wide: x.count) : y
      if y.isHalf {
        lowering.convert(source, result, count: x.count)
      } else {
        lowering.copy(StridedCopy(contiguous: x.count), of: x.scalar, from: source, to: result)
      }
      lowering.run(
        call, [try lowering.read(node.inputs[1], .dense), try lowering.read(node.inputs[2], .dense)], result)
      if y.isHalf { lowering.convert(result, y, count: x.count) }
    }
  }
}

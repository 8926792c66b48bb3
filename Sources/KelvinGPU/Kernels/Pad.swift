internal import KelvinDevices
package import KelvinGraph

/// Elements added around a dense tensor.
package struct PadPlan: Sendable {
  package enum Mode: Int, Sendable { case constant, reflect, edge }
  package struct Axis: Sendable {
    /// The number of elements in the result, and in the source.
    package var size: Int
    package var extent: Int
    /// Elements added before.
    package var before: Int

    package init(size: Int, extent: Int, before: Int) {
      self.size = size
      self.extent = extent
      self.before = before
    }
  }

  package let mode: Mode
  /// The axes, outermost first; neighbouring axes without padding are merged.
  package let axes: [Axis]
  /// The bits of a padding element as stored inside a segment. Integers are sign-extended to 64 bits.
  package let filler: UInt64
  package let scalar: ScalarType

  fileprivate init(_ op: Pad, _ input: TensorType, _ output: Shape, isHalf: Bool) {
    scalar = input.scalar
    var axes: [Axis] = []
    var isLastPadded = true
    for index in 0..<output.rank {
      let isPadded = op.before[index] + op.after[index] > 0
      let extent = input.shape[index]
      if !isPadded, !isLastPadded {
        axes[axes.count - 1].size *= extent
        axes[axes.count - 1].extent *= extent
      } else {
        axes.append(Axis(size: output[index], extent: extent, before: op.before[index]))
      }
      isLastPadded = isPadded
    }
    self.axes = axes
    switch op.mode {
    case .reflect: (mode, filler) = (.reflect, 0)
    case .edge: (mode, filler) = (.edge, 0)
    case .constant(let value):
      let element = Tensor(TensorType(input.scalar, []), rounding: [Double(value)])
      mode = .constant
      filler =
        isHalf
        ? UInt64(element.floats[0].finiteHalfBits)
        : input.scalar.isFloatingPoint
          ? UInt64(element.floats[0].bitPattern) : UInt64(bitPattern: Int64(element.integers[0]))
    }
  }

  /// Returns the axes, preceded by axes of one element up to `rank`.
  package func axes(padded rank: Int) -> [Axis] {
    [Axis](repeating: Axis(size: 1, extent: 1, before: 0), count: max(rank - axes.count, 0)) + axes
  }
}

extension KernelTable {
  mutating func addPad<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Pad.self) { op, context throws(DeviceError) in
      let isHalf = context.target.isHalf(context.inputs[0].scalar)
      let plan = PadPlan(op, context.inputs[0], context.outputs[0].shape, isHalf: isHalf)
      let limit = context.target.padRank(of: plan.scalar)
      guard plan.axes.count <= limit else { throw context.unsupported("padding of more than \(limit) separate axes") }
      return context.dense(context.target.pad(plan))
    }
  }
}

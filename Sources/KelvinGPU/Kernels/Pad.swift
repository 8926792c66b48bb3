internal import KelvinDevices
internal import KelvinGraph

/// Elements added around a dense tensor.
private struct PadPlan {
  enum Mode: Int { case constant, reflect, edge }
  struct Axis {
    /// The number of elements in the result, and in the source.
    var size: Int
    var extent: Int
    /// Elements added before.
    var before: Int

    init(size: Int, extent: Int, before: Int) {
      self.size = size
      self.extent = extent
      self.before = before
    }
  }

  /// The largest number of axes that the kernel takes.
  static let limit = 8

  let mode: Mode
  /// The axes, outermost first; neighbouring axes without padding are merged.
  let axes: [Axis]
  /// The bits of a padding element as stored inside a segment. Integers are sign-extended to 64 bits.
  let filler: UInt64
  let scalar: ScalarType

  /// Returns nil for a mode without a kernel.
  init?(_ op: Pad, _ input: TensorType, _ output: Shape, isHalf: Bool) {
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
    case .wrap: return nil
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

  /// - Precondition: `axes` are within the limit.
  var kernel: GPUKernel {
    let inner = axes.reversed() + [Axis](repeating: Axis(size: 1, extent: 1, before: 0), count: Self.limit - axes.count)
    var parameters = Parameters(mode.rawValue)
    parameters.add(wide: filler)
    parameters.add(inner.dropFirst().map(\.size) + inner.map(\.extent) + inner.map(\.before))
    return GPUKernel(
      "pad", [.moved(scalar)], reads: [.elements], parameters, rows: inner.dropFirst().reduce(1) { $0 * $1.size },
      of: inner[0].size)
  }
}

extension KernelTable {
  mutating func addPad<Target>() where Context == KernelContext<Target>, Kernel == NodeLowering<Target> {
    add(Pad.self) { op, context throws(DeviceError) in
      let isHalf = context.target.isHalf(context.inputs[0].scalar)
      guard let plan = PadPlan(op, context.inputs[0], context.outputs[0].shape, isHalf: isHalf) else {
        throw context.unsupported("padding by the elements at the other end")
      }
      guard plan.axes.count <= PadPlan.limit else {
        throw context.unsupported("padding of more than \(PadPlan.limit) separate axes")
      }
      return context.dense(plan.kernel)
    }
  }
}

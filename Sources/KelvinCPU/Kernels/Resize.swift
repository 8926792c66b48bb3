import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension KernelTable<CPUContext, CPUKernel> {
  mutating func addResize() {
    add(Resize.self) { (op, context) throws(DeviceError) in
      if op.interpolation == .linear { try context.requireArithmetic() }
      for axis in op.axes where context.inputs[0].shape[axis.axis] > Int(Int32.max) {
        throw context.unsupported("\(context.inputs[0].shape[axis.axis]) elements along an axis")
      }
      let passes = ResizePass.passes(op, context.inputs[0].shape)
      let element = context.inputs[0].scalar.innerByteCount
      let run = context.variant.kernels.resize
      var kernel = CPUKernel { operands, list in
        for (index, pass) in passes.enumerated() {
          let source = index == 0 ? operands.inputs[0] : UnsafeRawPointer(operands.temporaries[index - 1])
          let target = index == passes.count - 1 ? operands.outputs[0] : operands.temporaries[index]
          switch op.interpolation {
          case .linear: pass.mix(source, target, run, list)
          case .nearest(let rounding): pass.pick(source, target, rounding, element: element, list)
          }
        }
      }
      if passes.isEmpty { return CPUKernel.view() }
      kernel.temporaries = passes.dropLast().map { element * $0.count }
      if op.interpolation == .linear { kernel.threadByteCount = 4 * (passes.map(\.width).max() ?? 0) }
      return kernel
    }
  }
}

/// A pass that resamples one axis, or the last two at once: `[outer, height, width]` to `[outer, outHeight, outWidth]`.
private struct ResizePass {
  var outer = 1
  var height = 1
  var width = 1
  var rows: ResizeAxis?
  var columns: ResizeAxis?

  var outHeight: Int { rows?.size ?? height }
  var outWidth: Int { columns?.size ?? width }
  var count: Int { outer * outHeight * outWidth }
  private var items: Int { outWidth == 0 ? 0 : outer * outHeight }

  static func passes(_ op: Resize, _ shape: Shape) -> [ResizePass] {
    var shape = shape
    var passes: [ResizePass] = []
    var axes = op.axes[...]
    while let axis = axes.popFirst() {
      var pass = ResizePass()
      let last = shape.rank - 1
      if axis.axis == last {
        pass.outer = 1
        pass.height = shape.dimensions[..<last].reduce(1, *)
        pass.width = shape[last]
        pass.columns = axis
      } else {
        pass.outer = shape.dimensions[..<axis.axis].reduce(1, *)
        pass.height = shape[axis.axis]
        pass.width = shape.dimensions[(axis.axis + 1)...].reduce(1, *)
        pass.rows = axis
        if axis.axis == last - 1 { pass.columns = axes.popFirst() }
      }
      shape[axis.axis] = axis.size
      passes.append(pass)
    }
    return passes
  }

  func mix(_ source: UnsafeRawPointer?, _ target: UnsafeMutableRawPointer, _ run: ck_run?, _ list: CPUTaskList) {
    var arguments = ck_resize_args()
    arguments.x = source?.assumingMemoryBound(to: Float.self)
    arguments.y = target.assumingMemoryBound(to: Float.self)
    (arguments.height, arguments.width) = (height, width)
    (arguments.out_height, arguments.out_width) = (outHeight, outWidth)
    if let rows { arguments.rows = Self.taps(rows, height, list) }
    if let columns { arguments.columns = Self.taps(columns, width, list) }
    list.add(run, arguments, items: items, cost: (rows == nil ? 0 : width) + 2 * outWidth)
  }

  private static func taps(_ axis: ResizeAxis, _ length: Int, _ list: CPUTaskList) -> ck_interpolation {
    let taps = axis.size == 0 ? [] : axis.linearTaps(length: length)
    return ck_interpolation(
      lower: list.array(taps.map { Int32($0.lower) }), upper: list.array(taps.map { Int32($0.upper) }),
      fraction: list.array(taps.map { Float($0.fraction) }))
  }

  func pick(
    _ source: UnsafeRawPointer?, _ target: UnsafeMutableRawPointer, _ rounding: Resize.Rounding, element: Int,
    _ list: CPUTaskList
  ) {
    func indices(_ axis: ResizeAxis?, _ length: Int) -> UnsafePointer<Int>? {
      guard let axis, axis.size > 0 else { return nil }
      return list.array(axis.nearestIndices(length: length, rounding))
    }
    let arguments = ck_resize_nearest_args(
      x: source, y: target, element: element, height: height, width: width, out_height: outHeight,
      out_width: outWidth, rows: indices(rows, height), columns: indices(columns, width))
    list.add(ck_resize_nearest_run, arguments, items: items, cost: outWidth)
  }
}

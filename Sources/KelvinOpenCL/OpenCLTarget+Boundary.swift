internal import KelvinDevices
internal import KelvinGPU
internal import KelvinGraph

/// Conversions between a segment's boundary and its inside, and between layouts.
extension OpenCLTarget {
  func enter(_ type: TensorType, _ layout: ValueLayout) -> KernelDispatch<KernelName>? {
    guard layout == .dense else { return nil }
    return isHalf(type.scalar) ? half("float_to_finite_half", count: type.count) : widen(count: type.count)
  }

  func leave(_ type: TensorType) -> KernelDispatch<KernelName> {
    isHalf(type.scalar) ? widen(count: type.count) : narrow(count: type.count)
  }

  func halved(_ program: KernelName, _ form: HalfStorageMode) -> KernelName? {
    guard program.halves != form else { return program }
    guard form == .weights || program.makesParts == (form == .operands) else { return nil }
    guard programsByForm[form]?.contains(program.program) == true else { return nil }
    var halved = program
    halved.halves = form
    return halved
  }
  func widen(count: Int) -> KernelDispatch<KernelName> { half("half_to_float", count: count) }
  func narrow(count: Int) -> KernelDispatch<KernelName> { half("float_to_half", count: count) }

  func block(_ shape: BlockedShape) -> KernelDispatch<KernelName> { relayout("to_blocked", shape) }
  func unblock(_ shape: BlockedShape) -> KernelDispatch<KernelName> { relayout("to_dense", shape) }

  /// Returns a kernel that converts from or to float16.
  func half(_ function: String, count: Int) -> KernelDispatch<KernelName> {
    call(
      KernelName(program: "half", function: function), Parameters(count, tuning.run),
      items: pieces(count, of: tuning.run))
  }

  private func relayout(_ function: String, _ shape: BlockedShape) -> KernelDispatch<KernelName> {
    let run = max(tuning.run / lanes, 1)
    return call(
      KernelName(program: "blocked", function: function), Parameters(shape.channels, shape.blocks, shape.area, run),
      items: pieces(shape.area, of: run), shape.batch * shape.blocks)
  }
}

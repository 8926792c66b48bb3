internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func cast(_ from: ScalarType, to: ScalarType, count: Int) -> KernelDispatch<KernelName> {
    let saturates = from.isFloatingPoint && !to.isFloatingPoint && to != .bool
    let convert =
      switch to {
      case .bool: "0!="
      case .float32, .float16: "convert_float"
      default: "convert_\(to.kernelName)\(saturates ? "_sat_rtz" : "")"
      }
    let defines =
      ["SOURCE=\(from.kernelName)", "TARGET=\(to.kernelName)", "CONVERT=\(convert)"] + (saturates ? ["SATURATES"] : [])
    return call(
      KernelName(program: "cast", defines: defines, function: "cast"), Parameters(count, tuning.run),
      items: pieces(count, of: tuning.run))
  }

  func roundToHalf(count: Int) -> KernelDispatch<KernelName> { half("round_to_half", count: count) }
}

internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func cast(_ from: ScalarType, to: ScalarType, count: Int) -> Call<KernelName> {
    let convert =
      switch (from, to) {
      case (_, .bool): "0!="
      case (_, .float32), (_, .float16): "convert_float"
      default: "convert_\(to.kernelName)\(from.isFloatingPoint ? "_sat_rtz" : "")"
      }
    let defines = ["SOURCE=\(from.kernelName)", "TARGET=\(to.kernelName)", "CONVERT=\(convert)"]
    return call(
      KernelName(program: "cast", defines: defines, function: "cast"), Parameters(count, tuning.run),
      items: pieces(count, of: tuning.run))
  }

  func roundToHalf(count: Int) -> Call<KernelName> { half("round_to_half", count: count) }
}

internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func resize(_ pass: ResizePass) -> Call<KernelName> {
    let element = pass.scalar.isFloatingPoint ? "float" : elementName(byteCount: byteCount(pass.scalar))
    let defines = ["ELEMENT=\(element)", "LINEAR=\(pass.interpolation == .linear ? 1 : 0)"]
    let run = max(tuning.run / max(pass.inner, 1), 1)
    return call(
      KernelName(program: "resize", defines: defines, function: "resize"),
      Parameters(pass.inputA, pass.outputA, pass.middle, pass.inputB, pass.outputB, pass.inner, run),
      items: pieces(pass.outputB, of: run), pass.outer * pass.outputA * pass.middle)
  }
}

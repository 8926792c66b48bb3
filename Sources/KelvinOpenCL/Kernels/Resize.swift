internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func resize(_ pass: ResizePass) -> KernelDispatch<KernelName> {
    let kernel =
      pass.interpolation == .linear
      ? KernelName(program: "resize", defines: ["ELEMENT=STORED", "LINEAR=1"], function: "resize")
      : KernelName(
        program: "resize", defines: ["ELEMENT=\(bits(byteCount(pass.scalar)))", "LINEAR=0"],
        halves: isHalf(pass.scalar) ? .all : nil, function: "resize")
    let run = max(tuning.run / max(pass.inner, 1), 1)
    return call(
      kernel,
      Parameters(pass.inputA, pass.outputA, pass.middle, pass.inputB, pass.outputB, pass.inner, run),
      items: pieces(pass.outputB, of: run), pass.outer * pass.outputA * pass.middle)
  }
}

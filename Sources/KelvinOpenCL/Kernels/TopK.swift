internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func rank(_ pass: RankPass) -> KernelDispatch<KernelName> {
    let lines = pass.lines
    let defines =
      ["ELEMENT=\(pass.scalar.kernelName)", "RESULT=\(pass.index.kernelName)"]
      + (pass.scalar.isFloatingPoint ? ["FLOATS"] : [])
    let run = max(tuning.run / RankPass.arity, 1)
    let leading = [pass.count, lines.length, lines.inner, pass.takesLargest ? 1 : 0, pass.span]
    let numbers =
      leading + (pass.isFirst ? [] : [pass.stored, pass.runs, RankPass.arity]) + [pass.kept] + pass.strides + [run]
    let function = pass.isFirst ? "rank_elements" : "rank_runs"
    return call(
      KernelName(program: "rank", defines: defines, function: function), Parameters(numbers),
      items: pieces(pass.count, of: run))
  }
}

internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func cumulativeProduct(_ op: CumulativeProduct, _ lines: Lines, of scalar: ScalarType) -> Call<KernelName> {
    let run = run(of: lines.inner)
    return call(
      KernelName(program: "cumulative_product", defines: scalar.wideDefines, function: "cumulative_product"),
      Parameters(lines.outer, lines.length, lines.inner, run, op.isExclusive ? 1 : 0, op.isReversed ? 1 : 0),
      items: pieces(lines.inner, of: run), lines.outer)
  }
}

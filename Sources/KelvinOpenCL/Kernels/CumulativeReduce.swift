internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func cumulativeReduce(_ op: CumulativeReduce, _ lines: ReductionRows, of scalar: ScalarType) -> KernelDispatch<
    KernelName
  > {
    let run = run(of: lines.inner)
    return call(
      KernelName(program: "cumulative_reduce", defines: scalar.wideDefines, function: "cumulative_reduce"),
      Parameters(
        lines.outer, lines.length, lines.inner, run, op.function == .product ? 1 : 0, op.isExclusive ? 1 : 0,
        op.isReversed ? 1 : 0),
      items: pieces(lines.inner, of: run), lines.outer)
  }
}

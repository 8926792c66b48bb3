internal import KelvinGPU

extension OpenCLTarget {
  func softmax(_ lines: ReductionRows) -> KernelDispatch<KernelName> {
    let areRows = lines.inner == 1 || lines.lanes > 1
    let extent = lines.lanes > 1 ? pieces(lines.length, of: lanes) * lines.inner * lanes : lines.length
    return call(
      KernelName(program: "softmax", function: areRows ? "softmax_rows" : "softmax_columns"),
      Parameters(lines.outer, lines.length, lines.inner, extent),
      items: areRows ? lines.count : lines.outer * pieces(lines.inner, of: lanes))
  }
}

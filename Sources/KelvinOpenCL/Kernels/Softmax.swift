internal import KelvinGPU

extension OpenCLTarget {
  func softmax(_ lines: Lines) -> Call<KernelName> {
    let areRows = lines.inner == 1
    return call(
      KernelName(program: "softmax", function: areRows ? "softmax_rows" : "softmax_columns"),
      Parameters(lines.outer, lines.length, lines.inner),
      items: areRows ? lines.outer : lines.outer * pieces(lines.inner, of: lanes))
  }

  func softmax(_ groups: LineGroups, _ pass: LinePass) -> Call<KernelName> {
    sharing(groups, "softmax", makesParts: pass == .statistics)
  }
}

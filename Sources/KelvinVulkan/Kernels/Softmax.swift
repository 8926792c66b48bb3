import KelvinGPU

extension VulkanTarget {
  func softmax(_ lines: ReductionRows) -> KernelDispatch<VulkanProgram> {
    flat(
      "softmax", [.float],
      Parameters(lines.count, lines.length, lines.inner, lines.laneBits).inverses(lines.inner),
      count: lines.length == 0 ? 0 : lines.count)
  }

  func softmax(_ groups: RowGroups, _ pass: RowPass) -> KernelDispatch<VulkanProgram> {
    let makesParts = pass == .statistics
    return sharing(groups, "softmax", makesParts: makesParts, makesParts ? [.float] : [.float, .wide])
  }
}

import KelvinGPU

extension VulkanTarget {
  func softmax(_ lines: ReductionRows) -> KernelDispatch<VulkanProgram> {
    flat(
      "softmax", [.float],
      Parameters(lines.count, lines.length, lines.inner, lines.laneBits).inverses(lines.inner),
      count: lines.length == 0 ? 0 : lines.count)
  }
}

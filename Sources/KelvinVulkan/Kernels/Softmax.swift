import KelvinGPU

extension VulkanTarget {
  func softmax(_ lines: Lines) -> Call<VulkanProgram> { along(lines, "softmax", .float) }

  func softmax(_ groups: LineGroups, _ pass: LinePass) -> Call<VulkanProgram> {
    let makesParts = pass == .statistics
    return sharing(groups, "softmax", makesParts: makesParts, makesParts ? [.float] : [.float, .wide])
  }
}

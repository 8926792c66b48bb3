import KelvinGPU

extension VulkanTarget {
  func resize(_ pass: ResizePass) -> KernelDispatch<VulkanProgram> {
    // Blocks are sampled by the four channels of a texel, dense tensors by words.
    let isBlocked = pass.layout == blocks
    let inner = isBlocked ? pass.inner / lanes : pass.inner * Element(pass.scalar).words
    let count = pass.outer * pass.outputA * pass.middle * pass.outputB * inner
    return flat(
      isBlocked ? "resize_blocked" : "resize", [isBlocked ? .float4 : .uint, .wide4],
      Parameters(count, pass.inputA, pass.outputA, pass.middle, pass.inputB, pass.outputB, inner).inverses(
        pass.outputA, pass.middle, pass.outputB, inner), count: count)
  }
}

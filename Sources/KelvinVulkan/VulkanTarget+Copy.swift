import KelvinGPU

extension VulkanTarget {
  func copy(_ copy: StridedCopy, byteCount: Int) -> KernelDispatch<VulkanProgram> {
    let zeros = [Int](repeating: 0, count: copyRank - copy.axes.count)
    let axes = copy.axes.reversed()
    return flat(
      "copy", [byteCount == 2 ? .short : .uint], isHalf: byteCount == 2, specializationConstants: [0],
      Parameters(
        [copy.count, copy.sourceOffset, copy.targetOffset] + axes.map(\.size) + zeros.map { _ in 1 }
          + axes.map(\.source) + zeros + axes.map(\.target) + zeros), count: copy.count)
  }
}

import KelvinGPU

extension VulkanTarget {
  var lineGroup: Int? { traits.lineGroup }

  /// A kernel whose groups share lines.
  ///
  /// - Parameter makesParts: whether what it writes is float32 whatever lies as float16.
  func sharing(
    _ groups: LineGroups, _ shader: String, makesParts: Bool = false, _ formats: [OperandFormat], constants: [Int] = [],
    _ own: (Parameters) -> Parameters = { $0 }
  ) -> Call<VulkanProgram> {
    let (x, z) = folded(groups.count)
    return call(
      shader + (makesParts ? Self.partsSuffix : "_lines"), formats, group: traits.flatGroup, constants: constants,
      own(Parameters(groups.parameters)), groups: [x, 1, z])
  }

  func runningSum(_ sum: RunningSum) -> Call<VulkanProgram> {
    sharing(sum.groups, "running_sum", [.float, .wide]) { $0.followed(by: sum.parameters) }
  }

  /// Of the names of kernels whose result is float32 whatever lies as float16.
  static let partsSuffix = "_parts"
}

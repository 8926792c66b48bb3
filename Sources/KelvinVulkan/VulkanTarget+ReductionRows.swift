import KelvinGPU

extension VulkanTarget {
  var lineGroup: Int? { traits.lineGroup }

  /// Returns the dispatch of a kernel whose groups share rows.
  ///
  /// - Parameter makesParts: whether the result is float32 even if floats are stored as float16.
  func sharing(
    _ groups: RowGroups, _ shader: String, makesParts: Bool = false, _ formats: [OperandFormat],
    specializationConstants: [Int] = [],
    _ own: (Parameters) -> Parameters = { $0 }
  ) -> KernelDispatch<VulkanProgram> {
    let (x, z) = folded(groups.count)
    return call(
      shader + (makesParts ? Self.partsSuffix : "_lines"), formats, group: traits.flatGroup,
      specializationConstants: specializationConstants,
      own(Parameters(groups.parameters)), groups: [x, 1, z])
  }

  func runningSum(_ sum: RunningSum) -> KernelDispatch<VulkanProgram> {
    sharing(sum.groups, "running_sum", [.float, .wide]) { $0.followed(by: sum.parameters) }
  }

  /// The suffix of kernels whose result is float32 even if floats are stored as float16.
  static let partsSuffix = "_parts"
}

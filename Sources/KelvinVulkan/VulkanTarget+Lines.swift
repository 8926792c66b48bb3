import KelvinGPU

extension VulkanTarget {
  var lineGroup: Int? { traits.lineGroup }

  /// A kernel whose groups share lines.
  ///
  /// - Parameter makesParts: whether what it writes is float32 whatever lies as float16.
  func sharing(
    _ groups: LineGroups, _ shader: String, makesParts: Bool, _ formats: [OperandFormat],
    _ own: (Parameters) -> Parameters = { $0 }
  ) -> Call<VulkanProgram> {
    let (x, z) = folded(groups.count)
    return call(
      shader + (makesParts ? Self.partsSuffix : "_lines"), formats, group: traits.flatGroup,
      own(Parameters(groups.parameters)), groups: [x, 1, z])
  }

  /// Of the names of kernels whose result is float32 whatever lies as float16.
  static let partsSuffix = "_parts"
}

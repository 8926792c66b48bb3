import KelvinGPU

extension VulkanTarget {
  /// Returns the dispatch of a kernel that iterates over operands, as `strided_iteration.glsl` does.
  ///
  /// - Parameters:
  ///   - specializationConstants: specialization constants after the number of axes.
  ///   - leading: parameters between the count and the sizes.
  func iterating(
    _ iteration: StridedIteration, _ shader: String, _ formats: [OperandFormat], isHalf: Bool = false,
    specializationConstants: [Int],
    leading: [Int] = []
  ) -> KernelDispatch<VulkanProgram> {
    flat(
      shader, formats, isHalf: isHalf, specializationConstants: [iteration.axes.count] + specializationConstants,
      Parameters([iteration.count] + leading + iteration.paddedSizes + iteration.paddedStrides), count: iteration.count)
  }
}

extension StridedIteration {
  /// The sizes of the axes that shaders declare, innermost first, filled up with ones.
  var paddedSizes: [Int] { axes.reversed().map(\.size) + [Int](repeating: 1, count: Self.limit - axes.count) }

  /// Each operand's strides along these axes.
  var paddedStrides: [Int] {
    let rest = [Int](repeating: 0, count: Self.limit - axes.count)
    return axes[0].strides.indices.flatMap { operand in axes.reversed().map { $0.strides[operand] } + rest }
  }
}

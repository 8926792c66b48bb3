import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func argReduce(_ op: ArgReduce, _ lines: ReductionRows, of scalar: ScalarType) -> KernelDispatch<VulkanProgram> {
    let (from, to) = (Element(scalar), Element(op.scalar))
    return along(
      lines, "arg_reduce", from.format,
      specializationConstants: [
        from.kind.rawValue, op.function == .minimum ? 1 : 0, op.takesLast ? 1 : 0, to.isPair ? 1 : 0,
      ])
  }

  func argReduce(_ op: ArgReduce, _ pass: ArgReducePass) -> KernelDispatch<VulkanProgram> {
    let pairs = Element(pass.index).isPair ? 1 : 0
    return sharing(pass.groups, "arg_reduce", [.float, .uint], specializationConstants: [pairs]) {
      $0.followed(by: pass.parameters(op))
    }
  }

  /// Returns a dispatch with one invocation for each row of a dense tensor.
  func along(_ lines: ReductionRows, _ shader: String, _ format: OperandFormat, specializationConstants: [Int] = [])
    -> KernelDispatch<VulkanProgram>
  {
    flat(
      shader, [format], specializationConstants: specializationConstants,
      Parameters(lines.count, lines.length, lines.inner).inverses(lines.inner),
      count: lines.length == 0 ? 0 : lines.count)
  }
}

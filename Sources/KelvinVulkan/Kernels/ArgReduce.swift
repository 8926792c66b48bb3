import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func argReduce(_ op: ArgReduce, _ lines: Lines, of scalar: ScalarType) -> Call<VulkanProgram> {
    let (from, to) = (Element(scalar), Element(op.scalar))
    return along(
      lines, "arg_reduce", from.format,
      constants: [from.kind.rawValue, op.function == .minimum ? 1 : 0, op.takesLast ? 1 : 0, to.isPair ? 1 : 0])
  }

  func argReduce(_ op: ArgReduce, _ pass: ArgReducePass) -> Call<VulkanProgram> {
    let pairs = Element(pass.index).isPair ? 1 : 0
    return sharing(pass.groups, "arg_reduce", [.float, .uint], constants: [pairs]) {
      $0.followed(by: pass.parameters(op))
    }
  }

  /// One invocation for each line of a dense tensor.
  func along(_ lines: Lines, _ shader: String, _ format: OperandFormat, constants: [Int] = []) -> Call<VulkanProgram> {
    flat(
      shader, [format], constants: constants, Parameters(lines.count, lines.length, lines.inner).inverses(lines.inner),
      count: lines.length == 0 ? 0 : lines.count)
  }
}

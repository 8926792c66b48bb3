internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func argReduce(_ op: ArgReduce, _ lines: ReductionRows, of scalar: ScalarType) -> KernelDispatch<KernelName> {
    let defines = ["ELEMENT=\(scalar.kernelName)", "INDEX=\(op.scalar.kernelName)"]
    return call(
      KernelName(program: "arg_reduce", defines: defines, function: "arg_reduce"),
      Parameters(lines.outer, lines.length, lines.inner, op.function == .minimum ? 1 : 0, op.takesLast ? 1 : 0),
      items: lines.outer * pieces(lines.inner, of: lanes))
  }

  func argReduce(_ op: ArgReduce, _ pass: ArgReducePass) -> KernelDispatch<KernelName> {
    sharing(pass.groups, "arg_reduce", defines: ["INDICES", "INDEX=\(pass.index.kernelName)"]) {
      $0.followed(by: pass.parameters(op))
    }
  }
}

internal import KelvinGPU

extension OpenCLTarget {
  /// A processor runs a group on one core, and vectors are its lanes.
  var lineGroup: Int? { tuning.group > 1 ? tuning.group : nil }

  /// A kernel whose groups share lines.
  ///
  /// - Parameter makesParts: whether what it writes is float32 whatever lies as float16.
  func sharing(
    _ groups: RowGroups, _ kernel: String, makesParts: Bool = false, defines: [String] = [],
    _ own: (Parameters) -> Parameters = { $0 }
  ) -> KernelDispatch<KernelName> {
    let name = KernelName(
      program: "\(kernel)_lines", defines: defines + (makesParts ? [KernelName.parts] : []), function: "\(kernel)_lines"
    )
    return call(name, own(Parameters(groups.parameters)), items: groups.count * tuning.group)
  }

  func runningSum(_ sum: RunningSum) -> KernelDispatch<KernelName> {
    sharing(sum.groups, "running_sum") { $0.followed(by: sum.parameters) }
  }
}

internal import KelvinGPU

extension OpenCLTarget {
  /// A CPU runs a group on one core with vectors as lanes, so groups do not share rows there.
  var lineGroup: Int? { tuning.group > 1 ? tuning.group : nil }

  /// Returns the dispatch of a kernel whose groups share rows.
  ///
  /// - Parameter makesParts: whether the result is float32 even if floats are stored as float16.
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

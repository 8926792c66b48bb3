internal import KelvinGPU

extension OpenCLTarget {
  func pad(_ plan: PadPlan) -> KernelDispatch<KernelName> {
    let axes = plan.axes(padded: padRank(of: plan.scalar))
    let length = axes[axes.count - 1].size
    let rows = axes.dropLast().reduce(1) { $0 * $1.size }
    let run = run(of: length)
    var parameters = Parameters(length, run, plan.mode.rawValue)
    parameters.add(wide: plan.filler)
    parameters.add(axes.map(\.size) + axes.map(\.extent) + axes.map(\.before))
    return call(
      moving("pad", byteCount: byteCount(plan.scalar), function: "pad"), parameters,
      items: pieces(length, of: run), rows)
  }
}

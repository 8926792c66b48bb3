internal import KelvinGPU

extension OpenCLTarget {
  func pad(_ plan: PadPlan) -> Call<KernelName> {
    let axes = plan.axes(padded: padRank(of: plan.scalar))
    let length = axes[axes.count - 1].size
    let rows = axes.dropLast().reduce(1) { $0 * $1.size }
    let run = run(of: length)
    var parameters = Parameters(length, run, plan.mode.rawValue)
    parameters.add(wide: plan.filler)
    parameters.add(axes.map(\.size) + axes.map(\.extent) + axes.map(\.before))
    let element = elementName(byteCount: byteCount(plan.scalar))
    return call(
      KernelName(program: "pad", defines: ["ELEMENT=\(element)"], function: "pad"), parameters,
      items: pieces(length, of: run), rows)
  }
}

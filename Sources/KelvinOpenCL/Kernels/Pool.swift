internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func pool(_ function: Pool.Function, _ window: SpatialWindow, planes: Int) -> KernelDispatch<KernelName> {
    let columns = min(tuning.columns, window.output[1])
    let parts = pieces(window.output[1], of: max(columns, 1))
    return call(
      KernelName(program: "pool", function: "pool"),
      Parameters(
        window.output + window.input + window.geometry + window.after
          + [columns, parts, function == .maximum ? 1 : 0, function == .averageIncludingPadding ? 1 : 0]),
      items: window.output[0] * parts, planes)
  }
}

internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func unary(_ function: UnaryFunction, count: Int) -> KernelDispatch<KernelName> {
    let run = max(tuning.run / lanes, 1)
    return call(
      .elementwise("unary", function.code, tuning),
      Parameters(count, run, Int(function.code)).floats(function.a, function.b), items: pieces(count, of: run * lanes))
  }
}

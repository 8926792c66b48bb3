internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func randomUniform(_ op: RandomUniform, count: Int) -> KernelDispatch<KernelName> {
    call(
      KernelName(program: "random_uniform", function: "random_uniform"), Parameters(count, op.stream),
      items: pieces(count, of: 4))
  }
}

internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func select(_ iteration: StridedIteration, of scalar: ScalarType) -> KernelDispatch<KernelName> {
    iterating(iteration, moving("select", byteCount: byteCount(scalar), function: "select_elements"), [])
  }
}

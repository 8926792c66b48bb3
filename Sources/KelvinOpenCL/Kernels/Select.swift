internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func select(_ walk: Walk, of scalar: ScalarType) -> Call<KernelName> {
    walking(walk, moving("select", byteCount: byteCount(scalar), function: "select_elements"), [])
  }
}

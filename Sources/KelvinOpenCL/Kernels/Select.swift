internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func select(_ walk: Walk, of scalar: ScalarType) -> Call<KernelName> {
    let element = "ELEMENT=\(scalar.kernelName)"
    return walking(walk, KernelName(program: "select", defines: [element], function: "select_elements"), [])
  }
}

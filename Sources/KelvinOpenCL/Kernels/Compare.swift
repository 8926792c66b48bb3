internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func compare(_ op: Compare, _ walk: Walk, of scalar: ScalarType) -> Call<KernelName> {
    let element = "ELEMENT=\(scalar.kernelName)"
    return walking(walk, KernelName(program: "compare", defines: [element], function: "compare"), [Int(op.code)])
  }
}

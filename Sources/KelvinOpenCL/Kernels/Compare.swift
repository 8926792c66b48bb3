internal import KelvinGPU
internal import KelvinGraph

extension OpenCLTarget {
  func compare(_ op: Compare, _ iteration: StridedIteration, of scalar: ScalarType) -> KernelDispatch<KernelName> {
    let element = "ELEMENT=\(scalar.kernelName)"
    return iterating(iteration, KernelName(program: "compare", defines: [element], function: "compare"), [Int(op.code)])
  }
}

import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func cumulativeReduce(_ op: CumulativeReduce, _ lines: ReductionRows, of scalar: ScalarType) -> KernelDispatch<
    VulkanProgram
  > {
    let element = Element(scalar)
    return along(
      lines, "cumulative_reduce", element.format,
      specializationConstants: [
        element.kind.rawValue, element.bits, op.function == .product ? 1 : 0, op.isExclusive ? 1 : 0,
        op.isReversed ? 1 : 0,
      ])
  }
}

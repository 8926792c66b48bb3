import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func cumulativeReduce(_ op: CumulativeReduce, _ lines: Lines, of scalar: ScalarType) -> Call<VulkanProgram> {
    let element = Element(scalar)
    return along(
      lines, "cumulative_reduce", element.format,
      constants: [
        element.kind.rawValue, element.bits, op.function == .product ? 1 : 0, op.isExclusive ? 1 : 0,
        op.isReversed ? 1 : 0,
      ])
  }
}

import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func cumulativeProduct(_ op: CumulativeProduct, _ lines: Lines, of scalar: ScalarType) -> Call<VulkanProgram> {
    let element = Element(scalar)
    return along(
      lines, "cumulative_product", element.format,
      constants: [element.kind.rawValue, element.bits, op.isExclusive ? 1 : 0, op.isReversed ? 1 : 0])
  }
}

import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func cast(_ from: ScalarType, to: ScalarType, count: Int) -> KernelDispatch<VulkanProgram> {
    cast(Element(from).format, Element(from), bits: 32, to: Element(to), count: count)
  }

  func roundToHalf(count: Int) -> KernelDispatch<VulkanProgram> {
    unary(code: Int(UnaryFunction.roundsToHalfCode), 0, 0, count: count)
  }

  /// - Parameter bits: the bits of the integers read; 32 for whole words and pairs of words.
  func cast(_ format: OperandFormat, _ from: Element, bits: Int, to: Element, count: Int) -> KernelDispatch<
    VulkanProgram
  > {
    flat(
      "cast", [format], specializationConstants: [from.kind.rawValue, bits, to.kind.rawValue, to.bits],
      Parameters(count),
      count: count)
  }
}

import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  /// The two words of a 64-bit element take one axis.
  func padRank(of scalar: ScalarType) -> Int { Element(scalar).isPair ? 3 : 4 }

  func pad(_ plan: PadPlan) -> KernelDispatch<VulkanProgram> {
    let element = moved(plan.scalar)
    let pair = element.isPair ? [PadPlan.Axis(size: 2, extent: 2, before: 0)] : []
    let axes = plan.axes(padded: padRank(of: plan.scalar)) + pair
    let (sizes, extents) = (Shape(axes.map(\.size)), Shape(axes.map(\.extent)))
    var parameters = Parameters([sizes.count, 0, 0] + sizes.dimensions.reversed() + [1, 1])
    parameters.add(extents.strides.reversed() + [0, 0] + sizes.strides.reversed() + [0, 0])
    parameters.add(axes.reversed().map(\.before) + extents.dimensions.reversed())
    let low = UInt32(truncatingIfNeeded: plan.filler)
    parameters.add(words: low, element.isPair ? UInt32(truncatingIfNeeded: plan.filler >> 32) : low)
    return flat(
      "copy", [element.wordFormat], isHalf: element.isHalf, specializationConstants: [plan.mode.rawValue + 1],
      parameters,
      count: sizes.count)
  }
}

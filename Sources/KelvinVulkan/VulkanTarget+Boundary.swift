import KelvinDevices
import KelvinGPU
import KelvinGraph

/// Conversions between a segment's boundary and its inside, and between layouts.
extension VulkanTarget {
  func enter(_ type: TensorType, _ layout: ValueLayout) -> KernelDispatch<VulkanProgram>? {
    if type.scalar == .float16 {
      return layout == blocks
        ? block(BlockedShape(type.shape, lanes: lanes), from: .half) : widen(count: type.count)
    }
    // If floats are stored as float16, kernels that work on blocks read float16.
    if type.scalar == .float32 { return layout == .dense ? narrow(count: type.count, keepsFinite: true) : nil }
    let element = Element(type.scalar)
    return layout == .dense
      ? flat(
        "cast", [element.outsideFormat],
        specializationConstants: [element.kind.rawValue, element.bits, element.kind.rawValue, element.bits],
        Parameters(1, type.count).inverses(type.count), count: type.count) : nil
  }

  func leave(_ type: TensorType) -> KernelDispatch<VulkanProgram> {
    if type.scalar.isFloatingPoint {
      return isHalf(type.scalar) ? widen(count: type.count) : narrow(count: type.count)
    }
    let bits = max(Element(type.scalar).bits, 8)
    let words = (type.count * bits + 31) / 32
    return flat("narrow", [.uint], specializationConstants: [bits], Parameters(words), count: words)
  }

  func widen(count: Int) -> KernelDispatch<VulkanProgram> {
    let groups = (count + 3) / 4
    return flat(
      "unary", [.half4], specializationConstants: [Int(UnaryFunction.noneCode)],
      Parameters(1, groups).inverses(groups).followed(by: [0]).floats(0, 0),
      count: groups)
  }

  func narrow(count: Int) -> KernelDispatch<VulkanProgram> { narrow(count: count, keepsFinite: false) }

  private func narrow(count: Int, keepsFinite: Bool) -> KernelDispatch<VulkanProgram> {
    let pairs = (count + 1) / 2
    return flat("half", [.float], specializationConstants: [keepsFinite ? 1 : 0], Parameters(pairs), count: pairs)
  }

  func block(_ shape: BlockedShape) -> KernelDispatch<VulkanProgram> { block(shape, from: .float) }

  func unblock(_ shape: BlockedShape) -> KernelDispatch<VulkanProgram> {
    flat("unblock", [.float4], parameters(shape), count: shape.groups)
  }

  private func block(_ shape: BlockedShape, from format: OperandFormat) -> KernelDispatch<VulkanProgram> {
    flat("block", [format], parameters(shape), count: shape.groups)
  }

  private func parameters(_ shape: BlockedShape) -> Parameters {
    Parameters(shape.groups, shape.area, shape.blocks, shape.channels).inverses(shape.area, shape.blocks)
  }
}

import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func unary(_ function: UnaryFunction, count: Int) -> KernelDispatch<VulkanProgram> {
    unary(code: Int(function.code), function.a, function.b, count: count)
  }

  /// - Parameter code: the code of a `UnaryFunction.Kind`, or of a function of the device in `functions.glsl`.
  func unary(code: Int, _ a: Float, _ b: Float, count: Int) -> KernelDispatch<VulkanProgram> {
    let groups = (count + 3) / 4
    return flat("unary", [.float4], specializationConstants: [code], Parameters(groups).floats(a, b), count: groups)
  }
}

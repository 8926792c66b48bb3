import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func pool(_ function: Pool.Function, _ window: PlaneWindow, planes: Int) -> Call<VulkanProgram> {
    let code =
      switch function {
      case .maximum: 0
      case .average: 1
      case .averageIncludingPadding: 2
      }
    let count = planes * window.outputArea
    return flat(
      "pool", [.float4], constants: [code],
      Parameters(
        [count, window.outputArea, window.output[1]] + window.input + window.kernel + window.strides + window.dilations
          + window.before + window.after
      ).inverses(window.outputArea, window.output[1]), count: count)
  }
}

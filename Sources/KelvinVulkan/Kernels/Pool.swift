import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func pool(_ function: Pool.Function, _ window: PlaneWindow, planes: Int) -> Call<VulkanProgram> {
    let count = planes * window.outputArea
    return flat(
      "pool", [.float4], constants: [function.code],
      Parameters(
        [count, window.outputArea, window.output[1]] + window.input + window.kernel + window.strides + window.dilations
          + window.before + window.after
      ).inverses(window.outputArea, window.output[1]), count: count)
  }

  func poolVolume(_ function: Pool.Function, _ window: VolumeWindow, planes: Int, of scalar: ScalarType)
    -> Call<VulkanProgram>
  {
    let count = planes * window.outputCount
    return flat(
      "pool_volume", [.uint], constants: [function.code, Element(scalar).kind.rawValue],
      Parameters([count] + window.output + window.parameters + window.after).inverses(
        window.output[0], window.output[1], window.output[2]), count: count)
  }
}

extension Pool.Function {
  /// Its number in shaders.
  fileprivate var code: Int {
    switch self {
    case .maximum: 0
    case .average: 1
    case .averageIncludingPadding: 2
    }
  }
}

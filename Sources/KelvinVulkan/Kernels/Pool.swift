import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func pool(_ function: Pool.Function, _ window: SpatialWindow, planes: Int) -> Call<VulkanProgram> {
    let count = planes * window.outputCount
    return flat(
      "pool", [.float4], constants: [function.code],
      Parameters(
        [count, window.outputCount, window.output[1]] + window.input + window.geometry + window.after
      ).inverses(window.outputCount, window.output[1]), count: count)
  }

  func poolVolume(_ function: Pool.Function, _ window: SpatialWindow, planes: Int, of scalar: ScalarType)
    -> Call<VulkanProgram>
  {
    let count = planes * window.outputCount
    return flat(
      "pool_volume", [.uint], constants: [function.code, Element(scalar).kind.rawValue],
      Parameters([count] + window.output + window.input + window.geometry + window.after).inverses(
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

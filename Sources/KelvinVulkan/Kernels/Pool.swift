import KelvinGPU
import KelvinGraph

extension VulkanTarget {
  func pool(_ function: Pool.Function, _ window: SpatialWindow, planes: Int) -> KernelDispatch<VulkanProgram> {
    // Larger windows overlap less for their size, and their loops are not unrolled.
    let (rows, columns) = window.taps <= 16 ? (traits.windowRows, traits.windowColumns) : (1, 1)
    let tilesX = (window.output[1] + columns - 1) / columns
    let tiles = (window.output[0] + rows - 1) / rows * tilesX
    let count = planes * tiles
    return flat(
      traits.variant("pool"), [.float4],
      specializationConstants: [traits.lanes, function.code] + window.kernel + window.strides + window.dilations + [
        rows, columns,
      ],
      Parameters([count, tiles, tilesX] + window.input + window.output + window.before + window.after).inverses(
        tiles, tilesX), count: count)
  }
}

extension Pool.Function {
  /// The number of the function in shaders.
  fileprivate var code: Int {
    switch self {
    case .maximum: 0
    case .average: 1
    case .averageIncludingPadding: 2
    }
  }
}

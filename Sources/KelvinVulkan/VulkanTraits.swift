import CKelvinDrivers
import KelvinDevices

/// The choices that depend on the class of a device: tiles, group sizes, which variant of a shader.
struct VulkanTraits: Hashable, Sendable {
  /// Whether a subgroup is one SIMD register, so that a permutation is the cheapest way to share a value.
  var usesShuffles: Bool
  var lanes: Int
  /// Invocations in a group of a kernel without tiles.
  var flatGroup: Int
  /// Invocations in a group of a kernel with register tiles.
  var tileGroup: Int
  /// Blocks of four output channels, and positions, that one invocation of a convolution computes.
  var convolutionBlocks: Int
  var convolutionPixels: Int
  var depthwiseRows: Int
  var depthwiseColumns: Int
  var linearRows: Int

  var groupLimit: Int
  var texelLimit: Int
  /// Bytes that one tensor may take.
  var byteLimit: Int

  init(_ properties: VulkanProperties, options: VulkanOptions) {
    let lanes = properties.subgroupSize
    let isSoftware = properties.kind == .software
    usesShuffles = isSoftware && properties.hasShuffle && [4, 8, 16].contains(lanes) && !options.avoidsShuffles
    self.lanes = lanes
    // On a CPU a group is a loop on one core over SIMD registers, so one register makes a group and tiles are as large
    // as the register file bears; a GPU wants wide groups and small tiles.
    flatGroup = 64
    tileGroup = usesShuffles ? lanes : 64
    convolutionBlocks = 2
    convolutionPixels = isSoftware ? 4 : 2
    depthwiseRows = isSoftware ? 2 : 1
    depthwiseColumns = isSoftware ? 4 : 2
    linearRows = 4
    let counts = properties.limits.maxComputeWorkGroupCount
    groupLimit = Int(min(counts.0, counts.1, counts.2))
    texelLimit = Int(properties.limits.maxTexelBufferElements)
    byteLimit = min(Int(properties.limits.maxStorageBufferRange), 1 << 31 - 1)
  }
}

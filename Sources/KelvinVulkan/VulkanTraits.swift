import CKelvinSupport
import KelvinDevices
import KelvinGPU
import KelvinGraph

/// The tiles of a product that an invocation may keep in registers.
struct RegisterTiles: Hashable, Sendable {
  /// The number of positions.
  var pixels: ClosedRange<Int>
  /// The number of blocks of four output channels.
  var blocks: Int
}

/// The costs and limits of Winograd's tiles on a class of devices.
struct WinogradTraits: Hashable, Sendable {
  /// The register tiles of the products.
  var registers: RegisterTiles
  /// The cost of transforming four numbers to a point or back, in products of a position and a block.
  var transformCost: Double
  /// The largest size of the tiles that are transformed at a time, in bytes.
  var scratchLimit: Int
}

/// The choices that depend on the class of a device: tiles, group sizes, shader variants.
struct VulkanTraits: Hashable, Sendable {
  /// The kind of descriptor that binds kernels' operands.
  var operands: OperandPath
  /// Whether float16 elements are stored as float16 inside a segment, in half the memory; otherwise as float32.
  var storesHalves: Bool
  /// Whether products of values stored as float16 may be computed in float16.
  var multipliesHalves: Bool
  /// The size of matrices of float16 elements that subgroups multiply, if supported.
  var cooperativeMatrix: CooperativeMatrix?
  /// Whether the driver defers compilation to the first run of a pipeline.
  var compilesLate: Bool
  /// Whether a subgroup is one SIMD register, so that a permutation is the cheapest way to share a value.
  var usesShuffles: Bool
  /// Whether kernels read past the ends of their operands, so that the driver must check bounds. With shuffles, a
  /// subgroup reads whole registers of weights.
  var readsPastOperands: Bool { usesShuffles }
  /// Whether products unpack quantized weights as they read them.
  var unpacksWeights: Bool
  var lanes: Int
  /// Invocations in a group of a kernel without tiles.
  var flatGroup: Int
  /// Invocations in a group that shares rows; nil if one invocation for each row keeps the device busy.
  var lineGroup: Int?
  /// The most invocations in a group of a kernel that chooses their number.
  var widestGroup: Int
  /// Invocations in a group of a kernel with register tiles.
  var tileGroup: Int
  /// The tiles that one invocation computes of a convolution, and of a product of rows and a matrix.
  var convolutionTiles: RegisterTiles
  var rowTiles: RegisterTiles
  /// Blocks of a row that an invocation reads together.
  var rowChunk: Int
  /// The largest size, in bytes, of the unfolded windows of a convolution with few channels. Nil if windows are
  /// unfolded only when that repeats no input.
  var unfoldedLimit: Int?
  /// Other tiles that may be faster for single products.
  var otherTiles: [RegisterTiles]
  /// The tiles of products that a group may share in local memory; none on software drivers, where a group is a loop.
  var stagedTiles: [StagedTile]
  var computeUnits: Int
  /// The costs by which convolutions with Winograd's tiles are compared with others.
  var winograd: WinogradTraits
  /// Words of four columns in a tile of an integer product.
  var integerBlocks: Int
  /// Whether integer products multiply four bytes of a word at once.
  var usesPackedDotProducts: Bool
  /// Positions that one invocation of a depthwise convolution or a pooling computes.
  var windowRows: Int
  var windowColumns: Int
  var linearRows: Int
  /// Queries that one invocation of attention computes, and keys that it processes together.
  var attentionQueries: Int
  var attentionKeys: Int
  /// Elements of the vectors in which rows of an attention must be readable.
  var attentionLanes: Int
  /// Bytes of local memory that groups share operands in; 0 on software drivers, where a group is a loop.
  var localMemory: Int

  /// The number of loop iterations after which the driver ends an invocation.
  var iterationLimit: Int
  var groupLimit: Int
  /// The largest number of words of one tensor.
  var texelLimit: Int
  /// The largest size of one tensor in bytes: as accessed by kernels, and as allocated.
  var byteLimit: Int
  var allocationLimit: Int
  /// The largest size, in bytes, of a tensor that kernels access only in vectors.
  var vectorLimit: Int { min(byteLimit, operands.hasViews ? 16 * texelLimit : .max) }

  /// The number of elements of the largest tensors in common networks.
  private static let manyTexels = 1 << 26

  /// Returns the name of a shader that has a variant with subgroup shuffles.
  func variant(_ shader: String) -> String { usesShuffles ? "\(shader)_shuffle" : shader }
  /// Returns the name of a product's shader, which also has a variant for quantized weights.
  func product(_ shader: String, _ codes: QuantizedOperand?) -> String {
    codes == nil ? variant(shader) : "\(shader)_coded"
  }

  /// Returns a shader and its epilogue. On devices with shuffles, whose drivers defer compilation, a variant of the
  /// shader supports only bounds as activations. The variant compiles faster and is used if the epilogue's activation
  /// is such bounds.
  func bounded(_ shader: String, _ epilogue: Epilogue) -> (shader: String, epilogue: Epilogue) {
    guard usesShuffles, let bounded = epilogue.bounded else { return (shader, epilogue) }
    return ("\(shader)_bounded", bounded)
  }

  init(_ properties: VulkanProperties) {
    let lanes = properties.subgroupSize
    let isSoftware = properties.kind == .software
    let texels = Int(properties.limits.maxTexelBufferElements)
    // Hardware drivers may allow no more storage buffers than the minimum of the specification.
    let hasFewBuffers = Int(properties.limits.maxPerStageDescriptorStorageBuffers) <= VulkanPipelines.operandBindings
    // Mesa's software drivers call a function to read a vector of a uniform texel buffer. Version 22.3 compiles these
    // calls faster than inlined copies; from version 24 on they run slower than storage texel buffers.
    let callsSlowly = properties.mesaMajor.map { $0 >= 24 } ?? false
    let readsViews = hasFewBuffers || (isSoftware && texels >= Self.manyTexels)
    usesShuffles =
      isSoftware && readsViews && properties.hasShuffle && properties.hasInt64 && [4, 8, 16].contains(lanes)
    // Modules for storage texel buffers exist for shaders with shuffles, not for the plain variants of these shaders.
    operands = usesShuffles && callsSlowly ? .images : readsViews ? .texels : .buffers
    // Hardware converts as it loads; llvmpipe converts in software, which is slower than float32 storage.
    storesHalves = properties.stores16Bits && !isSoftware
    multipliesHalves = storesHalves && properties.multipliesHalves
    cooperativeMatrix = storesHalves && operands == .buffers ? properties.cooperativeMatrix : nil
    compilesLate = isSoftware
    // With shuffles on llvmpipe, products that unpack quantized weights are slower than products of expanded weights.
    unpacksWeights = !usesShuffles
    self.lanes = lanes
    // On a CPU a group is a loop on one core over SIMD registers. One register makes a group, and tiles are as large as
    // the register file allows. A GPU needs wide groups and small tiles.
    flatGroup = 64
    lineGroup = isSoftware ? nil : flatGroup
    tileGroup = usesShuffles ? lanes : 64
    // Each tile is a pipeline to compile, and a network has convolutions of many sizes, so more blocks cost more
    // compilation than they save on llvmpipe. Reading a vector takes far more instructions there than a multiply-add,
    // so large tiles pay although their sums exceed the registers.
    convolutionTiles = RegisterTiles(pixels: isSoftware ? 4...4 : 2...2, blocks: usesShuffles ? 4 : 2)
    rowTiles = usesShuffles ? RegisterTiles(pixels: 4...7, blocks: 4) : convolutionTiles
    // The blocks of a cache line. Each read in the shader is compiled separately.
    rowChunk = !usesShuffles ? 1 : operands == .images ? 2 : 4
    unfoldedLimit = usesShuffles ? 32 << 20 : nil
    // Small tiles keep a GPU busy if results are few; large tiles read less for each product.
    let shapes =
      isSoftware
      ? [(4, 8), (8, 4), (2, 8), (6, 4), (8, 2), (4, 2)]
      : [(1, 1), (1, 2), (1, 4), (2, 4), (4, 1), (4, 2), (4, 4), (8, 2)]
    otherTiles = shapes.map { RegisterTiles(pixels: $0...$0, blocks: $1) }
    let limits = properties.limits
    let invocations = Int(min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize.0))
    let localByteCount = Int(limits.maxComputeSharedMemorySize)
    // The invocations of each size are a power of two, and four floats of local memory each.
    widestGroup = [1024, 512, 256, 128].first { $0 <= invocations && 16 * $0 <= localByteCount } ?? flatGroup
    localMemory = isSoftware || widestGroup < StagedAttention.leastInvocations ? 0 : localByteCount
    stagedTiles =
      isSoftware
      ? []
      : StagedTile.all(
        cooperativeMatrix, multipliesHalves: multipliesHalves, lanes: lanes, invocations: invocations,
        byteLimit: localByteCount)
    computeUnits = properties.computeUnits
    // llvmpipe stores a tensor element by element. The cost for hardware assumes a GPU that computes twenty operations
    // in the time of a byte.
    winograd = WinogradTraits(
      registers: usesShuffles ? RegisterTiles(pixels: 2...4, blocks: 4) : convolutionTiles,
      transformCost: isSoftware ? 80 : 200, scratchLimit: isSoftware ? 4 << 20 : 32 << 20)
    integerBlocks = isSoftware ? 4 : 2
    usesPackedDotProducts = properties.dotProduct == .accelerated
    windowRows = isSoftware ? 2 : 1
    windowColumns = isSoftware ? 4 : 2
    linearRows = 4
    attentionQueries = isSoftware ? 2 : 1
    attentionKeys = usesShuffles ? lanes : 8
    // Software drivers read an element as slowly as a vector, so products that share their reads are faster.
    attentionLanes = isSoftware ? 4 : 1
    // LP_MAX_TGSI_LOOP_ITERATIONS: the sum up to this iteration becomes the result.
    iterationLimit = properties.driver.hasPrefix("llvmpipe") ? 65_535 : Int.max
    let counts = properties.limits.maxComputeWorkGroupCount
    groupLimit = Int(min(counts.0, counts.1, counts.2))
    // Views end at a multiple of four words.
    texelLimit = operands.hasViews ? texels / 4 * 4 - TexelSize.spare / 4 : Int.max
    allocationLimit = properties.largestAllocation
    byteLimit = min(Int(properties.limits.maxStorageBufferRange), 1 << 31 - 1)
  }
}

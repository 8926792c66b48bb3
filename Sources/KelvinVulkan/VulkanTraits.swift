import CKelvinSupport
import KelvinDevices
import KelvinGPU
import KelvinGraph

/// The tiles of a product that an invocation may keep in registers.
struct RegisterTiles: Hashable, Sendable {
  /// Positions.
  var pixels: ClosedRange<Int>
  /// Of four output channels.
  var blocks: Int
}

/// What Winograd's tiles take on a class of devices.
struct WinogradTraits: Hashable, Sendable {
  /// Of the products.
  var registers: RegisterTiles
  /// What bringing four numbers to a point or back takes, in products of a position and a block.
  var transformCost: Double
  /// Bytes of transformed tiles at a time.
  var scratchLimit: Int
}

/// The choices that depend on the class of a device: tiles, group sizes, which variant of a shader.
struct VulkanTraits: Hashable, Sendable {
  /// How kernels' operands are bound.
  var operands: OperandPath
  /// Whether float16 elements lie as such inside a segment, which takes half the memory, else as float32.
  var storesHalves: Bool
  /// The matrices that subgroups multiply of elements that lie so.
  var cooperativeMatrix: CooperativeMatrix?
  /// Whether the driver compiles a pipeline when that first runs.
  var compilesLate: Bool
  /// Whether a subgroup is one SIMD register, so that a permutation is the cheapest way to share a value.
  var usesShuffles: Bool
  /// Whether products unpack weights that are codes as they read them.
  var unpacksWeights: Bool
  var lanes: Int
  /// Invocations in a group of a kernel without tiles.
  var flatGroup: Int
  /// Invocations in a group that shares lines, where an invocation for each would leave a card idle.
  var lineGroup: Int?
  /// Invocations in a group of a kernel with register tiles.
  var tileGroup: Int
  /// What one invocation computes of a convolution, and of rows times a matrix.
  var convolutionTiles: RegisterTiles
  var rowTiles: RegisterTiles
  /// Blocks of a row that an invocation reads together.
  var rowChunk: Int
  /// Bytes that the windows of a convolution with few channels may take side by side, as channels; nil where they are brought
  /// there only if that repeats no input.
  var unfoldedLimit: Int?
  /// What else a device of the class may be faster with, product by product.
  var otherTiles: [RegisterTiles]
  /// How convolutions by Winograd's tiles are weighed against others.
  var winograd: WinogradTraits
  /// Words of four columns in a tile of a product of integers.
  var integerBlocks: Int
  /// Whether products of integers multiply four bytes of a word at once.
  var usesPackedDotProducts: Bool
  /// Positions that one invocation of a depthwise convolution or a pooling computes.
  var windowRows: Int
  var windowColumns: Int
  var linearRows: Int
  /// Queries that one invocation of attention answers, and keys that it looks at together.
  var attentionQueries: Int
  var attentionKeys: Int
  /// Elements of the vectors that rows of an attention have to lie in.
  var attentionLanes: Int

  /// Iterations of its loops after which an invocation ends.
  var iterationLimit: Int
  var groupLimit: Int
  /// Words that one tensor may take.
  var texelLimit: Int
  /// Bytes that one tensor may take as kernels see it, and in all.
  var byteLimit: Int
  var allocationLimit: Int
  /// Bytes that a tensor may take which kernels see in vectors alone.
  var vectorLimit: Int { min(byteLimit, operands.hasViews ? 16 * texelLimit : .max) }

  /// As many as tensors of usual networks have elements.
  private static let manyTexels = 1 << 26

  /// The name of a shader that has a variant with permutations.
  func variant(_ shader: String) -> String { usesShuffles ? "\(shader)_shuffle" : shader }
  /// The name of a product's shader, which has a variant for weights that are codes, too.
  func product(_ shader: String, _ codes: QuantizedOperand?) -> String {
    codes == nil ? variant(shader) : "\(shader)_coded"
  }

  /// A shader and the epilogue to give it: where shaders shuffle, as those of drivers do that compile pipelines late, one that
  /// knows bounds alone as activations and is read in a fifth of the time, wherever these do.
  func bounded(_ shader: String, _ epilogue: Epilogue) -> (shader: String, epilogue: Epilogue) {
    guard usesShuffles, let bounded = epilogue.bounded else { return (shader, epilogue) }
    return ("\(shader)_bounded", bounded)
  }

  init(_ properties: VulkanProperties) {
    let lanes = properties.subgroupSize
    let isSoftware = properties.kind == .software
    let texels = Int(properties.limits.maxTexelBufferElements)
    // Drivers for hardware may show a kernel no more storage buffers than the least that the specification allows.
    let hasFewBuffers = Int(properties.limits.maxPerStageDescriptorStorageBuffers) <= VulkanPipelines.operandBindings
    // Mesa's drivers for processors call a function for a vector of a uniform texel buffer. That of 22.3 is compiled sooner
    // than as many copies in line; that of 25 made networks take 1.6 to 2 times as long as storage texel buffers do.
    let callsSlowly = properties.mesaMajor.map { $0 >= 24 } ?? false
    let readsViews = hasFewBuffers || (isSoftware && texels >= Self.manyTexels)
    usesShuffles =
      isSoftware && readsViews && properties.hasShuffle && properties.hasInt64 && [4, 8, 16].contains(lanes)
    // Shaders that have a variant with permutations are no images without.
    operands = usesShuffles && callsSlowly ? .images : readsViews ? .texels : .buffers
    // Hardware converts as it loads; llvmpipe took 1.4 to 2 times as long for MobileNetV2.
    storesHalves = properties.stores16Bits && !isSoftware
    cooperativeMatrix = storesHalves && operands == .buffers ? properties.cooperativeMatrix : nil
    compilesLate = isSoftware
    // With permutations, products of codes took 1.1 to 3 times as long on llvmpipe as expanded ones, and up to 7 times
    // where codes were places in a table.
    unpacksWeights = !usesShuffles
    self.lanes = lanes
    // On a CPU a group is a loop on one core over SIMD registers, so one register makes a group and tiles are as large
    // as the register file bears; a GPU wants wide groups and small tiles.
    flatGroup = 64
    lineGroup = isSoftware ? nil : flatGroup
    tileGroup = usesShuffles ? lanes : 64
    // Each tile is a pipeline to compile, and a network has convolutions of many sizes: 8 blocks were up to 1.2 times as
    // fast as 4 on llvmpipe, and took 1.7 times as long to compile. Reading a vector is a call of 45 instructions there,
    // a multiply-add of a register two, so that large tiles pay although their sums do not fit the registers.
    convolutionTiles = RegisterTiles(pixels: isSoftware ? 4...4 : 2...2, blocks: usesShuffles ? 4 : 2)
    rowTiles = usesShuffles ? RegisterTiles(pixels: 4...7, blocks: 4) : convolutionTiles
    // A line of the cache; what is read in line is compiled as often as it is read.
    rowChunk = !usesShuffles ? 1 : operands == .images ? 2 : 4
    unfoldedLimit = usesShuffles ? 32 << 20 : nil
    // Small tiles fill a card where results are few, large ones read less for each product.
    let shapes =
      isSoftware
      ? [(4, 8), (8, 4), (2, 8), (6, 4), (8, 2), (4, 2)]
      : [(1, 1), (1, 2), (1, 4), (2, 4), (4, 1), (4, 2), (4, 4), (8, 2)]
    otherTiles = shapes.map { RegisterTiles(pixels: $0...$0, blocks: $1) }
    // llvmpipe stores a tensor element by element. Of hardware none is at hand: a card that computes twenty operations in
    // the time of a byte.
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
    // Software drivers read an element as slowly as a vector: products that share what they read are sooner done.
    attentionLanes = isSoftware ? 4 : 1
    // LP_MAX_TGSI_LOOP_ITERATIONS: what was summed by then is the result.
    iterationLimit = properties.driver.hasPrefix("llvmpipe") ? 65_535 : Int.max
    let counts = properties.limits.maxComputeWorkGroupCount
    groupLimit = Int(min(counts.0, counts.1, counts.2))
    texelLimit = operands.hasViews ? texels - TexelSize.spare / 4 : Int.max
    allocationLimit = properties.largestAllocation
    byteLimit = min(Int(properties.limits.maxStorageBufferRange), 1 << 31 - 1)
  }
}

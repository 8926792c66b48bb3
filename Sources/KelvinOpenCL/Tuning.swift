/// The costs and limits of Winograd's tiles on a class of devices.
struct WinogradTuning: Hashable, Sendable {
  /// The cost of transforming a number to a point or back, in multiply-adds.
  var transformCost: Double
  /// The largest size of the tiles that are transformed at a time, in bytes.
  var scratchLimit: Int
}

/// Sizes of tiles and work groups for a class of devices, compiled into the kernels.
struct Tuning: Hashable, Sendable {
  /// Channels in a block, elements in a vector.
  var lanes: Int
  /// Work items in a group. On a CPU a group is a loop on one core, and an item does a whole loop's work.
  var group: Int
  /// Output pixels that one item of a convolution computes.
  var pixels: Int
  /// The number of multiplications that pays for starting an item of a convolution. An item computes several tiles of
  /// pixels if one tile has fewer multiplications (`ConvolutionPlan.tilesPerItem`). 0 for one tile each.
  var work: Int
  /// Output pixels that one item of an integer product computes, as one vector of neighbours: a power of two.
  var integerPixels: Int
  /// Neighbouring pixels that one step of a depthwise convolution computes.
  var tile: Int
  /// Elements that one item of an element-wise kernel processes.
  var run: Int
  /// Output pixels of a row that one item of a depthwise convolution or a pool computes.
  var columns: Int
  /// Whether the order of a convolution's groups depends on the sizes of its operands, to use caches better.
  var ordersGroups: Bool
  /// Whether products unpack quantized weights as they read them, four lanes at a time.
  var unpacksWeights: Bool
  /// Whether each function of one or two elements is a separate kernel. A network needs one or two of them.
  var compilesFunctionsAlone: Bool
  /// The costs by which convolutions with Winograd's tiles are compared with others; nil if there are none.
  var winograd: WinogradTuning?
  /// The expression for a multiply-add.
  var multiplyAdd: String

  /// Returns the tuning of a processor. The sums of two blocks fill half of 32 registers of 16 floats. Of 16 registers
  /// of 8 floats they leave only those for a step's weights and its input.
  ///
  /// - Parameter vectorWidth: floats of the processor's vectors.
  static func cpu(vectorWidth: Int) -> Tuning {
    let isWide = vectorWidth >= 16
    return Tuning(
      lanes: isWide ? 16 : 8, group: 1, pixels: isWide ? 8 : 6, work: 1 << 17, integerPixels: isWide ? 8 : 4, tile: 4,
      run: 4096, columns: 1 << 20, ordersGroups: true, unpacksWeights: false, compilesFunctionsAlone: true,
      winograd: nil, multiplyAdd: "fma")
  }

  static let gpu = Tuning(
    lanes: 4, group: 64, pixels: 2, work: 0, integerPixels: 2, tile: 2, run: 4, columns: 4, ordersGroups: false,
    unpacksWeights: true, compilesFunctionsAlone: false,
    winograd: WinogradTuning(transformCost: 80, scratchLimit: 32 << 20), multiplyAdd: "mad")

  /// Whether floats may be stored as float16. Processors, on which an item does a whole loop's work, would convert
  /// element by element.
  var storesHalves: Bool { group > 1 }

  var options: String {
    "-cl-std=CL1.2 -DLANES=\(lanes) -DGROUP=\(group) -DTILE=\(tile) -DMULTIPLY_ADD=\(multiplyAdd)"
  }

  /// Returns the tuning with groups of at most `limit` work items, halved until they fit, because kernels split work in
  /// halves.
  func fitting(_ limit: Int) -> Tuning {
    var tuning = self
    while tuning.group > max(limit, 1) { tuning.group /= 2 }
    return tuning
  }

  /// Returns the number of blocks for `channels` channels.
  func blocks(_ channels: Int) -> Int { (channels + lanes - 1) / lanes }
}

/// What Winograd's tiles take on a class of devices.
struct WinogradTuning: Hashable, Sendable {
  /// What bringing a number to a point or back takes, in multiply-adds.
  var transformCost: Double
  /// Bytes of transformed tiles at a time.
  var scratchLimit: Int
}

/// Sizes of tiles and work groups, one row for each class of device. They are compiled into the kernels.
struct Tuning: Hashable, Sendable {
  /// Channels in a block, elements in a vector.
  var lanes: Int
  /// Work items in a group. On a CPU a group is a loop on one core, and an item does a whole loop's work.
  var group: Int
  /// Output pixels that one item of a convolution computes.
  var pixels: Int
  /// Multiplications that make an item of a convolution worth its beginning, by several tiles of pixels where one makes
  /// fewer (`ConvolutionPlan.tilesPerItem`). 0 for one tile each.
  var work: Int
  /// As `pixels`, of integer products, which take so many neighbours as one vector: a power of two.
  var integerPixels: Int
  /// Neighbouring pixels that one step of a depthwise convolution computes.
  var tile: Int
  /// Elements that one item of an element-wise kernel handles.
  var run: Int
  /// Output pixels of a row that one item of a depthwise convolution or a pool computes.
  var columns: Int
  /// Whether the order of a convolution's groups follows the sizes of its operands, for the sake of the caches.
  var ordersGroups: Bool
  /// Whether products unpack weights that are codes as they read them, four lanes at a time.
  var unpacksWeights: Bool
  /// Whether each function of one element or two is a kernel of its own. A network needs one or two of them.
  var compilesFunctionsAlone: Bool
  /// How convolutions by Winograd's tiles are weighed against others; nil where there are none.
  var winograd: WinogradTuning?
  /// How a multiply-add is written.
  var multiplyAdd: String

  /// Of a processor. The sums of two blocks fill half of 32 registers of 16 floats, and of 16 registers of 8 all but what a
  /// step's weights and its input take: twice as many took 2.3 times as long, for ResNet-50 on Zen 3.
  ///
  /// - Parameter vectorWidth: floats of its vectors.
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

  /// Whether floats may lie as float16. Where an item does a whole loop's work a processor runs it, which converts element
  /// by element.
  var storesHalves: Bool { group > 1 }

  var options: String {
    "-cl-std=CL1.2 -DLANES=\(lanes) -DGROUP=\(group) -DTILE=\(tile) -DMULTIPLY_ADD=\(multiplyAdd)"
  }

  /// The same with groups of at most so many work items, halved until they fit: kernels share work in halves.
  func fitting(_ limit: Int) -> Tuning {
    var tuning = self
    while tuning.group > max(limit, 1) { tuning.group /= 2 }
    return tuning
  }

  /// How many blocks hold `channels` channels.
  func blocks(_ channels: Int) -> Int { (channels + lanes - 1) / lanes }
}

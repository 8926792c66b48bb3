import CKelvinKernels

/// The items of a convolution on blocks: bands whose input stays in the second-level cache, and pieces of output blocks
/// if there are too few bands for the threads.
struct BlockSchedule {
  /// The number of output rows of a band; positions if no input is copied.
  private(set) var band: Int
  private(set) var blockChunk: Int
  let items: Int
  /// Bytes of scratch for the band that a thread copies.
  let threadByteCount: Int

  /// - Parameters:
  ///   - converts: whether a band is converted in scratch, even if nothing is copied.
  ///   - pixelByteCount: bytes of all channels of an input position.
  ///   - run: output blocks that are packed together.
  ///   - groups: the groups of channels of an input position if products are of tiles, whose bands have their own
  ///     layout.
  init(
    _ window: ck_window, copies: Bool, converts: Bool = false, pixelByteCount: Int, blocks: Int, run: Int, images: Int,
    threads: Int, tiledGroups groups: Int? = nil
  ) {
    var window = window
    let extent = max(1, copies ? window.out_height : window.out_height * window.out_width)
    func byteCount(_ band: Int) -> Int {
      if let groups { return 4 * ck_tile_band_words(&window, copies, groups, band) }
      return pixelByteCount * (copies ? ck_blocked_band_elements(&window, 1, band) : band)
    }
    let least = min(extent, copies ? Self.leastRows : Self.leastPositions)
    var band = max(1, min(extent, extent * Self.bandByteLimit / max(1, byteCount(extent))))
    var pieces = 1
    if threads > 1 {
      let wanted = parts(Self.itemsPerThread * threads, of: max(images, 1))
      band = max(min(band, parts(extent, of: wanted)), min(band, least))
      pieces = parts(wanted, of: parts(extent, of: band))
    }
    let bands = parts(extent, of: band)
    band = parts(extent, of: bands)
    self.band = copies && band > 1 ? min(extent, band + band % 2) : band
    let chunk = parts(parts(max(blocks, 1), of: pieces), of: run) * run
    blockChunk = min(chunk, max(blocks, 1))
    items =
      window.out_height * window.out_width == 0 || blocks == 0
      ? 0 : images * parts(extent, of: self.band) * parts(blocks, of: blockChunk)
    threadByteCount = copies || converts ? byteCount(self.band) : 0
  }

  private static let bandByteLimit = 384 << 10
  private static let itemsPerThread = 4
  /// With fewer rows, the rows between two bands would be copied too often, or tiles would be mostly empty.
  private static let leastRows = 4
  private static let leastPositions = 56
}

/// The rows of output that one item computes of windows on blocks.
struct WindowBands {
  let rows: Int
  let items: Int

  /// - Parameter lanes: the elements of a position, if the input of a band is copied.
  init(_ window: ck_window, planes: Int, threads: Int, copiedLanes lanes: Int? = nil) {
    let height = max(window.out_height, 1)
    var pieces = threads == 1 ? 1 : min(height, parts(4 * threads, of: max(planes, 1)))
    if let lanes {
      var window = window
      let byteCount = 4 * lanes * ck_blocked_padded_pixels(&window, height)
      pieces = max(pieces, min(parts(height, of: Self.leastRows), byteCount / Self.copyByteLimit))
    }
    rows = parts(height, of: pieces)
    items = window.out_height * window.out_width == 0 ? 0 : planes * parts(height, of: rows)
  }

  /// A copy stays in the second-level cache.
  private static let copyByteLimit = 512 << 10
  private static let leastRows = 8
}

extension ck_window {
  /// Whether kernels for rows of neighboring taps compute a depthwise convolution.
  var isLine: Bool { [3, 5, 7].contains(kernel_width) && stride_x == 1 && dilation_x == 1 }

  /// Returns the offset of each tap in a band of pixels of `size` elements.
  func taps(_ size: Int) -> [Int] {
    var window = self
    return [Int](unsafeUninitializedCapacity: kernel_height * kernel_width) { target, count in
      ck_blocked_taps(&window, size, target.baseAddress)
      count = kernel_height * kernel_width
    }
  }
}

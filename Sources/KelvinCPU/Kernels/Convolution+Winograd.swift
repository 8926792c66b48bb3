import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension Convolution {
  /// Returns the tile size by which Winograd's minimal filtering is estimated to be faster on blocks than the taps; nil
  /// if the taps are faster. The cost is in multiply-adds of words, from counts of operations and bytes.
  func implementation(_ context: CPUContext, _ window: ck_window, _ products: CPUProducts) -> (tile: Int?, cost: Double)
  {
    let channels = (inputs: context.inputs[1].shape[1], outputs: context.inputs[1].shape[0])
    let product = Double(products.words(channels.inputs) * channels.outputs)
    let pixels = Double(window.out_height * window.out_width)
    let direct = (tile: Int?.none, cost: product * Double(self.window.count) * (pixels + Self.weightCost))
    guard groups == 1, self.window.rank == 2, self.window.kernel == [3, 3], self.window.strides == [1, 1],
      self.window.dilations == [1, 1], min(channels.inputs, channels.outputs) >= Self.fewestChannels
    else { return direct }
    let isExact = products.precision == .full
    let tiled = [2, 4].map { tile -> (tile: Int?, cost: Double) in
      let points = Double((tile + 2) * (tile + 2))
      let tiles = Double(parts(window.out_height, of: tile) * parts(window.out_width, of: tile))
      let transforms = tiles * Double(channels.inputs + channels.outputs) * points * Self.transformCost
      // Rounded numbers take half the bytes on their way to the products.
      return (tile, product * points * (tiles + Self.weightCost) + transforms * (isExact ? 1 : 0.75))
    }
    // With rounded operands, large tiles have more than twice the error of the taps.
    let takesLarge = isExact && tiled[1].cost < tiled[0].cost && channels.inputs >= Self.fewestForLargeTiles
    let best = tiled[takesLarge ? 1 : 0]
    return best.cost < direct.cost ? best : direct
  }

  /// The costs, in multiply-adds, of streaming a weight, and of transforming a number to a point or back.
  private static let weightCost = 10.0
  private static let transformCost = 8.0
  /// With fewer channels, transforms take longer than they save.
  private static let fewestChannels = 16
  /// With fewer channels, a tile's sums cannot be split into partial sums, which its error bound needs.
  private static let fewestForLargeTiles = 32

  /// Returns a convolution of 3 × 3 taps on blocks of channels by tiles of `tile` × `tile` outputs.
  func byWinograd(
    _ context: CPUContext, _ window: ck_window, _ products: CPUProducts, tile: Int
  ) throws(DeviceError) -> CPUKernel {
    let (x, weights) = (context.inputs[0].shape, context.inputs[1].shape)
    let lanes = context.variant.kernels.lanes
    let epilogue = CPUEpilogue(epilogue, from: 2, context.variant)
    let outBlocks = parts(weights[0], of: lanes)
    let points = (tile + 2) * (tile + 2)
    let schedule = TileSchedule(
      rows: parts(window.out_height, of: tile), columns: parts(window.out_width, of: tile),
      tileByteCount: 4 * points * (parts(weights[1], of: lanes) * products.words(lanes) + 2 * lanes), blocks: outBlocks,
      images: x[0],
      threads: context.threads)
    let run = products.kernels.winograd
    var kernel = CPUKernel { operands, list in
      let arguments = ck_winograd_args(
        x: operands.floats(0), weights: operands.packed(0), y: operands.result(), in_channels: weights[1],
        out_channels: weights[0], window: window, tile: tile, band: schedule.band, block_chunk: schedule.blockChunk,
        epilogue: epilogue.arguments(operands, biasAlongRows: true))
      list.add(run, arguments, items: schedule.items, cost: 1 << 20)
    }
    try context.checkScratch(schedule.threadByteCount)
    kernel.threadByteCount = schedule.threadByteCount
    let (rows, depth) = (weights[0], weights[1])
    kernel.packs = [
      CPUPack(
        inputs: [1], layout: "winograd-\(tile)-\(products.name)-\(lanes)",
        byteCount: 4 * outBlocks * lanes * products.words(depth) * points
      ) { target, weights in
        ck_pack_winograd(
          weights[0].baseAddress, rows, depth, tile, lanes, products.type, target.bindMemory(to: Float.self).baseAddress
        )
      }
    ]
    return kernel
  }
}

/// The items of a convolution by tiles: bands of rows of tiles that stay in the second-level cache once transformed,
/// and pieces of output blocks if there are too few bands for the threads.
private struct TileSchedule {
  let band: Int
  let blockChunk: Int
  let items: Int
  /// Bytes of scratch for a thread's band.
  let threadByteCount: Int

  init(rows: Int, columns: Int, tileByteCount: Int, blocks: Int, images: Int, threads: Int) {
    let (rows, columns) = (max(rows, 1), max(columns, 1))
    // A band has enough tiles to pay for reading the weights.
    let wanted = max(Self.fewestTiles, Self.bandByteLimit / tileByteCount)
    var band = min(rows, max(1, wanted / columns))
    if threads > 1 { band = max(1, min(band, parts(rows * max(images, 1), of: threads))) }
    band = parts(rows, of: parts(rows, of: band))
    let bands = images * parts(rows, of: band)
    let pieces = threads == 1 ? 1 : parts(2 * threads, of: max(bands, 1))
    let chunk = bands % threads == 0 && bands <= 2 * threads ? blocks : parts(parts(blocks, of: pieces), of: 2) * 2
    self.band = band
    blockChunk = max(1, min(chunk, blocks))
    items = bands * parts(blocks, of: blockChunk)
    threadByteCount = tileByteCount * band * columns
  }

  private static let bandByteLimit = 512 << 10
  private static let fewestTiles = 28
}

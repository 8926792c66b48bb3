package import CKelvinKernels

/// Compares kernels that multiply tiles with the same kernels by the emulated unit, bit by bit. Matrices and images have
/// parts of tiles at every edge, and sums have two parts along the depth.
package enum TileCheck {
  /// Returns the first result that differs, and the difference; nil if all agree.
  package static func fault(of kernels: ck_product_kernels) -> String? {
    guard let emulated = ck_tile_products(true)?.pointee else { return nil }
    let computations = [("product", product), ("convolution", convolution)]
    for numbers in Numbers.allCases {
      for (name, compute) in computations {
        let results = zip(compute(numbers, kernels), compute(numbers, emulated))
        for (index, (got, wanted)) in results.enumerated()
        where got.bitPattern != wanted.bitPattern && !(got.isNaN && wanted.isNaN) {
          return "\(name) of \(numbers) numbers: element \(index) is \(got), not \(wanted)"
        }
      }
    }
    return nil
  }

  /// The kinds of operands.
  fileprivate enum Numbers: CaseIterable {
    /// Of magnitudes around 1.
    case ordinary
    /// So small that products are around the least normal number.
    case tiny
    /// With infinities, NaN, zeros, denormals and the largest numbers among them.
    case special

    func next(_ random: inout UInt64) -> Float {
      random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let bits = UInt32(random >> 32)
      switch self {
      case .ordinary: return Float(bitPattern: bits & 0x80FF_FFFF | 0x3F00_0000)
      case .tiny: return Float(bitPattern: bits & 0x87FF_FFFF | 0x1C00_0000)
      case .special:
        let values: [Float] = [
          .infinity, -.infinity, .nan, 0, -0.0, 0x1p-130, -0x1p-130, .greatestFiniteMagnitude, 0x1.FEp127,
        ]
        // One in about 200 is special, so that most sums are finite.
        return bits >> 21 < values.count ? values[Int(bits >> 21)] : Self.ordinary.next(&random)
      }
    }
  }

  private static func product(of numbers: Numbers, by kernels: ck_product_kernels) -> [Float] {
    let (rows, columns, depth, type) = (35, 41, 70, ck_operands_tiles)
    let memory = Memory(numbers)
    let packedRows = memory.floats(ck_packed_rows_count(rows, depth, type))
    let packedColumns = memory.floats(ck_packed_columns_count(columns, depth, type))
    var packing = ck_pack_rows_args()
    (packing.x, packing.y) = (UnsafePointer(memory.operands(rows * depth)), packedRows)
    (packing.rows, packing.depth, packing.row_stride, packing.depth_stride) = (rows, depth, depth, 1)
    kernels.pack_rows?(&packing, 0, parts(rows, of: Int(ck_tile_rows)), nil)
    ck_pack_columns(memory.operands(columns * depth), columns, depth, depth, 1, type, packedColumns)

    var arguments = ck_gemm_args()
    (arguments.a, arguments.b) = (UnsafePointer(packedRows), UnsafePointer(packedColumns))
    arguments.c = memory.floats(rows * columns)
    (arguments.rows, arguments.columns, arguments.depth) = (rows, columns, ck_packed_count(type, depth))
    (arguments.batches, arguments.a_period, arguments.c_row_stride) = (1, 1, columns)
    arguments.kind = ck_columns_packed
    (arguments.row_chunk, arguments.column_chunk, arguments.depth_chunk) = (64, 64, 2 * Int(ck_tile_words))
    arguments.epilogue.column_bias = UnsafePointer(memory.operands(columns))
    (arguments.epilogue.lower, arguments.epilogue.upper) = (-.infinity, .infinity)
    kernels.gemm?(&arguments, 0, 1, nil)
    return Array(UnsafeBufferPointer(start: arguments.c, count: rows * columns))
  }

  private static func convolution(of numbers: Numbers, by kernels: ck_product_kernels) -> [Float] {
    let (channels, filters, lanes, side) = (37, 19, Int(ck_tile_words), 6)
    let (blocks, outBlocks, type) = (parts(channels, of: lanes), parts(filters, of: lanes), ck_operands_tiles)
    let memory = Memory(numbers)
    let packed = memory.floats(outBlocks * lanes * ck_packed_count(type, channels) * 9)
    ck_pack_blocked(memory.operands(filters * channels * 9), filters, channels, 9, lanes, false, type, packed)

    var arguments = ck_blocked_convolution_args()
    (arguments.x, arguments.weights) = (
      UnsafePointer(memory.operands(blocks * side * side * lanes)), UnsafePointer(packed)
    )
    arguments.y = memory.floats(outBlocks * side * side * lanes)
    (arguments.in_channels, arguments.out_channels) = (channels, filters)
    arguments.window = ck_window(
      height: side, width: side, kernel_height: 3, kernel_width: 3, stride_y: 1, stride_x: 1, dilation_y: 1,
      dilation_x: 1, before_y: 1, before_x: 1, out_height: side, out_width: side, slices: .one)
    (arguments.copies, arguments.band, arguments.block_chunk) = (true, side, outBlocks)
    (arguments.y_pixel, arguments.y_row, arguments.y_block) = (lanes, side * lanes, side * side * lanes)
    (arguments.epilogue.lower, arguments.epilogue.upper) = (0, 6)
    let scratch = memory.floats(ck_tile_band_words(&arguments.window, true, channels, side))
    kernels.blocked_convolution?(&arguments, 0, 1, scratch)
    return Array(UnsafeBufferPointer(start: arguments.y, count: outBlocks * side * side * lanes))
  }

  /// Memory that lives as long as the object, and random operands in it.
  private final class Memory {
    private let numbers: Numbers
    private var random: UInt64 = 1
    private var blocks: [UnsafeMutablePointer<Float>] = []

    init(_ numbers: Numbers) { self.numbers = numbers }

    deinit {
      for block in blocks { block.deallocate() }
    }

    /// Returns zeros, which kernels overwrite.
    func floats(_ count: Int) -> UnsafeMutablePointer<Float> {
      let block = UnsafeMutablePointer<Float>.allocate(capacity: count)
      block.initialize(repeating: 0, count: count)
      blocks.append(block)
      return block
    }

    func operands(_ count: Int) -> UnsafeMutablePointer<Float> {
      let block = floats(count)
      for index in 0..<count { block[index] = numbers.next(&random) }
      return block
    }
  }
}

package import CKelvinKernels

/// Compares kernels that multiply tiles or float16 with the same kernels by the emulated unit, bit by bit. Matrices and
/// images have parts of tiles at every edge, and sums of numbers have two parts along the depth.
package enum TileCheck {
  /// Returns the first result that differs, and the difference; nil if all agree.
  package static func fault(of kernels: ck_tile_kernels) -> String? {
    guard let emulated = ck_tiles(true)?.pointee else { return nil }
    for numbers in Numbers.allCases {
      for (name, compute) in [("product", product), ("convolution", convolution)] {
        let difference = difference(of: compute(numbers, kernels.products), from: compute(numbers, emulated.products))
        if let difference { return "\(name) of \(numbers) numbers: \(difference)" }
      }
    }
    for (name, compute) in [("integer product", integerProduct), ("integer convolution", integerConvolution)] {
      let results = zip(compute(kernels.integers), compute(emulated.integers))
      for (index, (got, wanted)) in results.enumerated() where got != wanted {
        return "\(name): element \(index) is \(got), not \(wanted)"
      }
    }
    return nil
  }

  /// Compares products of float16 with those by the emulated instructions.
  package static func fault(ofHalves kernels: ck_product_kernels) -> String? {
    for numbers in Numbers.allCases {
      let (got, wanted) = (
        product(of: numbers, by: kernels, ck_operands_float16),
        product(of: numbers, by: ck_emulated_halves().pointee, ck_operands_float16)
      )
      if let difference = difference(of: got, from: wanted) {
        return "rounded product of \(numbers) numbers: \(difference)"
      }
    }
    return nil
  }

  /// Describes the first element whose bits differ; the contents of NaN do not count.
  private static func difference(of got: [Float], from wanted: [Float]) -> String? {
    let pairs = zip(got, wanted)
    guard
      let (index, (got, wanted)) = pairs.enumerated().first(where: { _, pair in
        pair.0.bitPattern != pair.1.bitPattern && !(pair.0.isNaN && pair.1.isNaN)
      })
    else { return nil }
    return "element \(index) is \(got), not \(wanted)"
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
    product(of: numbers, by: kernels, ck_operands_tiles)
  }

  private static func product(
    of numbers: Numbers, by kernels: ck_product_kernels, _ type: ck_operands
  ) -> [Float] {
    let (rows, columns, depth) = (35, 41, 70)
    let memory = Memory(numbers)
    let packedRows = memory.floats(ck_packed_rows_count(rows, depth, type))
    let packedColumns = memory.floats(ck_packed_columns_count(columns, depth, type))
    var packing = ck_pack_rows_args()
    (packing.x, packing.y) = (UnsafePointer(memory.operands(rows * depth)), packedRows)
    (packing.rows, packing.depth, packing.row_stride, packing.depth_stride) = (rows, depth, depth, 1)
    kernels.pack_rows?(&packing, 0, parts(rows, of: ck_packed_panel(type)), nil)
    ck_pack_columns(memory.operands(columns * depth), columns, depth, depth, 1, type, packedColumns)

    var arguments = ck_gemm_args()
    (arguments.a, arguments.b) = (UnsafePointer(packedRows), UnsafePointer(packedColumns))
    arguments.c = memory.floats(rows * columns)
    (arguments.rows, arguments.columns, arguments.depth) = (rows, columns, ck_packed_count(type, depth))
    (arguments.batches, arguments.a_period, arguments.c_row_stride) = (1, 1, columns)
    arguments.kind = ck_columns_packed
    // A multiple of the tiles of each type.
    (arguments.row_chunk, arguments.column_chunk, arguments.depth_chunk) = (64, 96, 2 * Int(ck_tile_words))
    arguments.epilogue.column_bias = UnsafePointer(memory.operands(columns))
    (arguments.epilogue.lower, arguments.epilogue.upper) = (-.infinity, .infinity)
    kernels.gemm?(&arguments, 0, 1, nil)
    let results = Array(UnsafeBufferPointer(start: arguments.c, count: rows * columns))
    guard type == ck_operands_tiles else { return results }
    (arguments.kind, arguments.coded) = (ck_columns_coded, codes(columns: columns, depth: depth, memory))
    kernels.gemm?(&arguments, 0, 1, memory.floats(arguments.column_chunk * arguments.depth_chunk))
    return results + Array(UnsafeBufferPointer(start: arguments.c, count: rows * columns))
  }

  /// Returns columns of codes of 4 bits, with a scale for each column.
  private static func codes(columns: Int, depth: Int, _ memory: Memory) -> ck_coded_columns {
    var coded = ck_coded_columns()
    (coded.columns, coded.depth, coded.block, coded.bits, coded.zero) = (columns, depth, depth, 4, 7)
    coded.kind = ck_codes_scaled
    let (records, panel) = (memory.words(ck_coded_byte_count(&coded) / 4), Int(ck_gemm_panel))
    var parameters = ck_code_parameters()
    (parameters.first, parameters.run, parameters.length) = (UnsafePointer(memory.operands(columns)), 1, 1)
    let codes = UnsafeBufferPointer(start: memory.bytes(panel * depth), count: panel * depth).map { $0 & 15 }
    for index in 0..<parts(columns, of: panel) { ck_pack_coded_panel(&coded, index, codes, &parameters, records) }
    coded.records = UnsafeRawPointer(records)
    return coded
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
    arguments.window = window(side)
    (arguments.copies, arguments.band, arguments.block_chunk) = (true, side, outBlocks)
    (arguments.y_pixel, arguments.y_row, arguments.y_block) = (lanes, side * lanes, side * side * lanes)
    (arguments.epilogue.lower, arguments.epilogue.upper) = (0, 6)
    let groups = parts(channels, of: 2 * lanes)
    let scratch = memory.floats(ck_tile_band_words(&arguments.window, true, groups, side))
    kernels.blocked_convolution?(&arguments, 0, 1, scratch)
    return Array(UnsafeBufferPointer(start: arguments.y, count: outBlocks * side * side * lanes))
  }

  private static func window(_ side: Int) -> ck_window {
    ck_window(
      height: side, width: side, kernel_height: 3, kernel_width: 3, stride_y: 1, stride_x: 1, dilation_y: 1,
      dilation_x: 1, before_y: 1, before_x: 1, out_height: side, out_width: side, slices: .one)
  }

  /// Returns the sums of a product of bytes, and the numbers of a product of quantized rows.
  private static func integerProduct(by kernels: ck_integer_kernels) -> [UInt32] {
    let (rows, columns, depth) = (35, 41, 70)
    let memory = Memory(.ordinary)
    var packing = ck_integer_pack_args()
    let columnWords = memory.words(kernels.packedColumns(columns, depth: depth))
    (packing.x, packing.y, packing.is_signed) = (memory.bytes(columns * depth), columnWords, true)
    (packing.lines, packing.depth, packing.line_stride, packing.depth_stride) = (columns, depth, depth, 1)
    kernels.pack_columns(&packing, 0, parts(columns, of: kernels.width), nil)

    let panels = parts(rows, of: kernels.rows)
    let (rowWords, quantizedWords) = (
      memory.words(kernels.packedRows(rows, depth: depth)), memory.words(kernels.packedRows(rows, depth: depth))
    )
    (packing.x, packing.y, packing.is_signed) = (memory.bytes(rows * depth), rowWords, false)
    (packing.lines, packing.is_unsigned) = (rows, true)
    kernels.pack_rows(&packing, 0, panels, nil)
    let (x, bounds, scale) = (memory.operands(rows * depth), memory.floats(2), memory.floats(1))
    var range = ck_range_args(x: x, bounds: bounds, count: rows * depth)
    kernels.range(&range, 0, 1, nil)
    let zero = UnsafeMutablePointer(mutating: memory.bytes(1))
    var quantization = ck_quantize_rows_args(
      x: x, y: quantizedWords, lines: rows, depth: depth, bounds: bounds, chunks: 1, scale: scale, zero: zero)
    kernels.quantize_rows(&quantization, 0, panels, memory.floats(depth))

    var arguments = ck_integer_gemm_args()
    (arguments.rows, arguments.columns, arguments.depth, arguments.batches) = (rows, columns, depth, 1)
    (arguments.b_packed, arguments.kind, arguments.a_period) = (UnsafePointer(columnWords), ck_columns_packed, 1)
    (arguments.row_chunk, arguments.column_chunk) = (2 * kernels.height, kernels.width)
    arguments.a_operand.zero = UnsafePointer(zero)
    (arguments.b_operand.is_signed, arguments.b_operand.zero) = (true, memory.bytes(columns))
    arguments.b_operand.zero_step = 1
    (arguments.epilogue.lower, arguments.epilogue.upper) = (-.infinity, .infinity)
    return [(rowWords, ck_int32), (quantizedWords, ck_float32)].flatMap { words, type in
      let result = memory.words(rows * columns)
      (arguments.a, arguments.c, arguments.output.type) = (UnsafePointer(words), UnsafeMutableRawPointer(result), type)
      if type == ck_float32 {
        (arguments.output.scale, arguments.output.factor) = (UnsafePointer(scale), UnsafePointer(scale))
      }
      kernels.gemm(&arguments, 0, 1, nil)
      return Array(UnsafeBufferPointer(start: result, count: rows * columns))
    }
  }

  private static func integerConvolution(by kernels: ck_integer_kernels) -> [UInt32] {
    let (channels, filters, lanes, side) = (83, 19, Int(ck_tile_words), 6)
    let (blocks, outBlocks) = (parts(channels, of: lanes), parts(filters, of: lanes))
    let memory = Memory(.ordinary)
    let unit = kernels.unit / kernels.group
    let packed = memory.words(ck_integer_blocked_count(filters, channels, 9, kernels.unit, unit, lanes))
    ck_pack_integer_blocked(
      memory.bytes(filters * channels * 9), true, filters, channels, 9, kernels.unit, unit, lanes, packed)

    var arguments = ck_integer_blocked_args()
    (arguments.x.data, arguments.x.zero) = (memory.bytes(blocks * side * side * lanes), memory.bytes(1))
    (arguments.weights.is_signed, arguments.weights.zero) = (true, memory.bytes(filters))
    arguments.weights.zero_step = 1
    let result = memory.words(outBlocks * side * side * lanes / 4)
    (arguments.packed, arguments.y) = (UnsafePointer(packed), UnsafeMutableRawPointer(result))
    (arguments.in_channels, arguments.out_channels, arguments.window) = (channels, filters, window(side))
    (arguments.copies, arguments.band, arguments.block_chunk) = (true, side, outBlocks)
    arguments.output.type = ck_uint8
    let scale = memory.floats(1)
    scale.pointee = 1e-4
    (arguments.output.scale, arguments.output.zero) = (UnsafePointer(scale), memory.bytes(1))
    arguments.output.upper = 255
    let groups = parts(channels, of: kernels.unit)
    let scratch = memory.floats(ck_tile_band_words(&arguments.window, true, groups, side))
    kernels.blocked_convolution(&arguments, 0, 1, scratch)
    return Array(UnsafeBufferPointer(start: result, count: outBlocks * side * side * lanes / 4))
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

    /// Returns zeros, which kernels overwrite.
    func words(_ count: Int) -> UnsafeMutablePointer<UInt32> {
      UnsafeMutableRawPointer(floats(count)).assumingMemoryBound(to: UInt32.self)
    }

    func bytes(_ count: Int) -> UnsafePointer<UInt8> {
      let words = words(parts(count, of: 4))
      for index in 0..<parts(count, of: 4) {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        words[index] = UInt32(random >> 32)
      }
      return UnsafePointer(UnsafeMutableRawPointer(words).assumingMemoryBound(to: UInt8.self))
    }
  }
}

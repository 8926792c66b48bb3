import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension CPUContext {
  /// The integer kernels of the instruction set.
  var integers: ck_integer_kernels { variant.integers }

  /// Returns the fastest kernels for integer products of this many rows and this depth: those of tiles, if they are
  /// measured to be faster although parts of tiles are padding, or those of the instruction set.
  func integers(rows: Int, depth: Int) -> ck_integer_kernels {
    func filled(_ count: Int, of size: Int) -> Double { Double(count) / Double(max(1, parts(count, of: size)) * size) }
    let share = filled(rows, of: Int(ck_tile_rows)) * filled(depth, of: 4 * Int(ck_tile_words))
    return variant.tiledIntegers(share: share) ?? integers
  }
}

extension CPUVariant {
  var integers: ck_integer_kernels { kernels.integer.pointee }

  /// Returns the integer kernels of tiles, if the variant uses them and, with `measuresUnits`, if they are the fastest
  /// when only `share` of a tile is not padding. Their results are those of other kernels, bit for bit.
  func tiledIntegers(share: Double) -> ck_integer_kernels? {
    guard let kernels = tiles?.kernels?.integers else { return nil }
    let units = CPUUnits.measured
    guard !measuresUnits || share * units.speedup(of: "int8 tiles") > max(1, units.speedup(of: "int8")) else {
      return nil
    }
    return kernels
  }
}

extension ck_integer_kernels {
  /// Returns the words of packed rows.
  func packedRows(_ rows: Int, depth: Int) -> Int {
    withUnsafePointer(to: self) { ck_integer_packed_count($0, rows, self.rows, depth) }
  }

  /// Returns the words of packed columns.
  func packedColumns(_ columns: Int, depth: Int) -> Int {
    withUnsafePointer(to: self) { ck_integer_packed_count($0, columns, width, depth) }
  }
}

extension CPUOperands {
  func bytes(_ input: Int) -> UnsafePointer<UInt8>? { inputs[input]?.assumingMemoryBound(to: UInt8.self) }
  func words(_ pack: Int) -> UnsafePointer<UInt32> { packs[pack].assumingMemoryBound(to: UInt32.self) }
}

/// The requantization of integer sums, with the indices of its inputs.
struct CPURequantization {
  private let requantization: Requantization?
  private let first: Int
  private let scaleStep: Int

  /// - Parameter first: the index of the requantization's first input.
  init(_ requantization: Requantization?, from first: Int, _ context: CPUContext) {
    self.requantization = requantization
    self.first = first
    scaleStep = requantization != nil && context.inputs[first + 1].count > 1 ? 1 : 0
  }

  func arguments(_ operands: CPUOperands) -> ck_requantization {
    var arguments = ck_requantization()
    arguments.type = ck_int32
    guard let requantization else { return arguments }
    arguments.type = requantization.scalar.innerCode
    arguments.bias = operands.inputs[first]?.assumingMemoryBound(to: Int32.self)
    arguments.scale = operands.floats(first + 1)
    arguments.scale_step = scaleStep
    arguments.zero = operands.bytes(first + 2)
    arguments.lower = Int32(requantization.lower)
    arguments.upper = Int32(requantization.upper)
    return arguments
  }
}

extension ck_integer_operand {
  init(_ operands: CPUOperands, _ input: Int, zero: Int, _ context: CPUContext) {
    self.init()
    data = operands.bytes(input)
    is_signed = context.inputs[input].scalar == .int8
    self.zero = operands.bytes(zero)
    zero_step = context.inputs[zero].count > 1 ? 1 : 0
  }
}

/// The items of an integer product: pieces of columns, and pieces of rows if there are too few pieces of columns for
/// the threads. Each piece of rows packs its columns again.
struct IntegerSchedule {
  let rowChunk: Int
  let columnChunk: Int
  let items: Int
  /// Bytes of scratch that a thread needs for one packed panel of columns.
  let threadByteCount: Int

  init(rows: Int, columns: Int, depth: Int, batches: Int, threads: Int, _ kernels: ck_integer_kernels) {
    let height = kernels.height
    let panels = max(1, parts(columns, of: kernels.width))
    let wanted = threads > 1 ? parts(Self.itemsPerThread * threads, of: max(batches, 1)) : 1
    let panelsPerChunk = max(1, panels / wanted)
    let rowPieces = min(parts(wanted, of: panels), max(1, rows / Self.smallestRowChunk))
    let rowChunk = parts(parts(max(rows, 1), of: rowPieces), of: height) * height
    // Tiles multiply faster than rows come from memory, so those of a piece stay in the second-level cache.
    let rowLimit = max(1, Self.rowByteLimit / (max(depth, 1) * height)) * height
    self.rowChunk = height > Int(ck_integer_rows) ? min(rowChunk, rowLimit) : rowChunk
    columnChunk = panelsPerChunk * kernels.width
    items = rows == 0 || columns == 0 ? 0 : batches * parts(rows, of: self.rowChunk) * parts(columns, of: columnChunk)
    threadByteCount = kernels.width * parts(max(depth, 1), of: kernels.unit) * kernels.unit * 4 / kernels.group
  }

  private static let itemsPerThread = 4
  private static let smallestRowChunk = 48
  private static let rowByteLimit = 1 << 20
}

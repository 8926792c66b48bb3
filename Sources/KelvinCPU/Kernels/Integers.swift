import CKelvinKernels
import KelvinDevices
import KelvinGraph

extension CPUContext {
  /// The integer kernels of the instruction set.
  var integers: ck_integer_kernels { variant.integers }
}

extension CPUVariant {
  var integers: ck_integer_kernels { kernels.integer.pointee }
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

  init(rows: Int, columns: Int, depth: Int, batches: Int, _ context: CPUContext) {
    let kernels = context.integers
    let height = Int(ck_integer_rows)
    let panels = max(1, parts(columns, of: kernels.width))
    let wanted = context.threads > 1 ? parts(Self.itemsPerThread * context.threads, of: max(batches, 1)) : 1
    let panelsPerChunk = max(1, panels / wanted)
    let rowPieces = min(parts(wanted, of: panels), max(1, rows / Self.smallestRowChunk))
    rowChunk = parts(parts(max(rows, 1), of: rowPieces), of: height) * height
    columnChunk = panelsPerChunk * kernels.width
    items = rows == 0 || columns == 0 ? 0 : batches * parts(rows, of: rowChunk) * parts(columns, of: columnChunk)
    threadByteCount = 4 * kernels.width * parts(max(depth, 1), of: kernels.group)
  }

  private static let itemsPerThread = 4
  private static let smallestRowChunk = 48
}
